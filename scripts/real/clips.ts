/** Clips of real readers, with the words that they say. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sound } from '../../src/audio/clip.ts'
import { decodeFile } from '../../src/audio/decode/clip.ts'
import { concatFloats, toS16 } from '../../src/audio/pcm.ts'
import { clipRateHz } from '../../src/testing/speech-clips.ts'
import { work } from './weights.ts'

export interface Clip {
  path: string
  /** Raw float32 at 16 kHz, for programs that cannot read FLAC. */
  pcmPath: string
  seconds: number
  reference: string
}

const made = join(work, 'clips')

/** @returns none where the clips or their words are missing */
export async function clipsOf(shared: string, count: number): Promise<Clip[]> {
  const folder = join(shared, 'data', 'clips')
  const words = join(shared, 'prototypes', 'embedded', 'librispeech-references.py')
  if (!existsSync(folder) || !existsSync(words)) return []
  const text = await Bun.file(words).text()
  const literal = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1).replace(/,\s*\}$/, '}')
  const references = JSON.parse(literal) as Record<string, string>
  mkdirSync(made, { recursive: true })
  return Promise.all(
    Object.entries(references)
      .slice(0, count)
      .map(async ([name, reference]) => {
        const path = join(folder, `${name}.flac`)
        const { pcm } = await decodeFile(await Bun.file(path).bytes(), 120)
        const pcmPath = join(made, `${name}.f32`)
        await Bun.write(pcmPath, pcm)
        return { path, pcmPath, reference, seconds: pcm.length / clipRateHz }
      }),
  )
}

/** Whole clips, end to end, without pauses of their own. @param seconds at least; fewer if there are not as many */
export async function joinedClip(clips: readonly Clip[], seconds: number): Promise<Clip> {
  const parts: Clip[] = []
  const lengthOf = () => parts.reduce((sum, part) => sum + part.seconds, 0)
  for (const clip of clips) if (lengthOf() < seconds) parts.push(clip)
  const sounds = parts.map(async ({ pcmPath }) => new Float32Array(await Bun.file(pcmPath).arrayBuffer()))
  const pcm = concatFloats(await Promise.all(sounds))
  const [path, pcmPath] = [join(made, 'joined.wav'), join(made, 'joined.f32')]
  await Bun.write(path, sound.wav(new Int16Array(toS16(pcm)), clipRateHz))
  await Bun.write(pcmPath, pcm)
  return { path, pcmPath, seconds: lengthOf(), reference: parts.map(({ reference }) => reference).join(' ') }
}
