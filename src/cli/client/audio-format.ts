/** Decides which audio format a file's name means. */
import { extname } from 'node:path'
import { type AudioFormat, audioFormats } from '../../domain/speech.ts'

const byExtension: Readonly<Record<string, AudioFormat>> = {
  ...Object.fromEntries(audioFormats.map((format) => [`.${format}`, format])),
  '.ogg': 'opus',
}

/** @returns undefined for a name that says nothing known */
export const audioFormatOf = (path: string): AudioFormat | undefined => byExtension[extname(path).toLowerCase()]
