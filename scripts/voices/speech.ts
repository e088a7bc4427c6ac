/** A few sentences by one voice: as files for the judges, with what was misheard and what it cost. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Heard, Peer } from '../real/peer.ts'
import { loadCompare, type Misheard } from './misheard.ts'
import type { Server } from './server.ts'

const headerBytes = 44
const bytesPerSecond = 48_000

export interface Speech extends Heard {
  paths: string[]
  /** Of the words, in percent. */
  misheard: number
  /** Of each text. */
  found: Misheard[]
  /** Processor milliseconds for each second of sound. */
  cpuMsPerS: number
}

let folders = 0
const compare = await loadCompare()
const root = mkdtempSync(join(tmpdir(), 'myna-spoken-'))

export const cosine = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, at) => sum + value * b[at]!, 0)

export const heard = (ear: Peer, paths: readonly string[]): Promise<Heard> => ear.ask<Heard>({ paths })

/** @param model null: that of the voice */
export async function spoken(
  server: Server,
  ear: Peer,
  { model = 'auto', voice, texts }: { model?: string; voice: string; texts: readonly string[] },
): Promise<Speech> {
  const folder = join(root, String(folders++))
  const all: Misheard[] = []
  const paths: string[] = []
  let [cpu, seconds] = [0, 0]
  for (const [at, text] of texts.entries()) {
    const { found, cpu: took } = await server.speak(model, voice, text)
    cpu += took
    seconds += (found.length - headerBytes) / bytesPerSecond
    const path = join(folder, `${at}.wav`)
    await Bun.write(path, found)
    paths.push(path)
    all.push(compare(text, await server.hear(found)))
  }
  const sound = await heard(ear, paths)
  return { ...sound, paths, misheard: 100 * rateOf(all), found: all, cpuMsPerS: (1000 * cpu) / seconds }
}

/** Words misheard among all. */
export function rateOf(all: readonly Misheard[]): number {
  const words = all.reduce((sum, one) => sum + one.words, 0)
  return all.reduce((sum, { errors }) => sum + errors.length, 0) / words
}

export const shown = (ovr: number | null): string => (ovr === null ? '-' : ovr.toFixed(2))
