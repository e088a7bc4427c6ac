/**
 * Clones of readers: of a whole clip, of its first three seconds and with noise in it. How much a clone is like its
 * reader is how much Resemblyzer hears one voice in it and in the reader's other recordings.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decodeFile } from '../../src/audio/decode/clip.ts'
import { sound } from '../../src/audio/clip.ts'
import { levelDb } from '../../src/audio/pcm.ts'
import { Seeded } from '../../src/testing/seeded.ts'
import { printTable } from '../bench/figures.ts'
import type { Peer } from '../real/peer.ts'
import { type Server } from './server.ts'
import { cosine, heard, shown, type Speech, spoken } from './speech.ts'
import { fewTexts, readings } from './texts.ts'

interface Reader {
  name: string
  /** The first is cloned; the others are what the clone is compared with. */
  clips: Uint8Array<ArrayBuffer>[]
}

const kokoroVoices = ['af_bella', 'am_michael', 'bf_emma', 'bm_george']
const longestS = 20
/** Speech over noise, in dB. */
const noisyDb = 15

const variants = {
  clip: (pcm: Float32Array, rateHz: number) => pcm.subarray(0, longestS * rateHz),
  '3 s': (pcm: Float32Array, rateHz: number) => pcm.subarray(0, 3 * rateHz),
  noisy: (pcm: Float32Array, rateHz: number) => withNoise(pcm.subarray(0, longestS * rateHz)),
}

/** @param folder of recordings, READER-*.flac @param withKokoro whether voices of Kokoro are readers, too */
export async function measureClones(server: Server, ear: Peer, folder: string, withKokoro: boolean): Promise<void> {
  const readers = [...(await recorded(folder)), ...(withKokoro ? await synthetic(server) : [])]
  const plain = await spoken(server, ear, { voice: 'lark', texts: fewTexts })
  const rows: (string | number)[][] = []
  for (const reader of readers) {
    const truth = await Promise.all(reader.clips.map((clip, at) => fileOf(clip, `${reader.name}-${at}`)))
    const own = await Promise.all(truth.map((path) => heard(ear, [path])))
    const others = own.slice(1).map(({ embedding }) => embedding)
    const likeness = (embedding: readonly number[]) =>
      others.reduce((sum, other) => sum + cosine(embedding, other), 0) / others.length
    const { pcm, sampleRateHz } = await decodeFile(reader.clips[0]!, 60)
    const row: (string | number)[] = [reader.name, two(likeness(own[0]!.embedding)), two(likeness(plain.embedding))]
    for (const change of Object.values(variants)) {
      const clip = change(pcm, sampleRateHz)
      const { found: voice, cpu } = await server.clone(wavOf(clip, sampleRateHz))
      const speech = voice === null ? null : await spoken(server, ear, { voice, texts: fewTexts })
      row.push(speech === null ? 'refused' : cellOf(speech, likeness(speech.embedding)))
      row.push(`${cpu.toFixed(1)}, ${speech === null ? '-' : Math.round(speech.cpuMsPerS)}`)
      console.error(`${reader.name}: ${row.at(-2)}, ${row.at(-1)}`)
    }
    rows.push(row)
  }
  const each = Object.keys(variants).flatMap((name) => [name, 'fit s, speak ms'])
  printTable(`Clones: likeness / DNSMOS / misheard %, of ${fewTexts.length} sentences`, [
    ['reader', 'own clips', 'no clone', ...each],
    ...rows,
  ])
  console.log(`without a clone: DNSMOS ${shown(plain.ovr)}, ${plain.misheard.toFixed(1)} % misheard`)
}

const two = (value: number): string => value.toFixed(2)

const cellOf = ({ ovr, misheard }: Speech, like: number): string =>
  `${two(like)} / ${shown(ovr)} / ${misheard.toFixed(1)}`

/** READER-*.flac */
async function recorded(folder: string): Promise<Reader[]> {
  if (!existsSync(folder)) return []
  const names = [...new Bun.Glob('*.flac').scanSync(folder)].sort()
  const readers = Map.groupBy(names, (name) => name.split('-')[0]!)
  return Promise.all(
    [...readers].map(async ([name, files]) => ({
      name,
      clips: await Promise.all(files.map((file) => Bun.file(join(folder, file)).bytes())),
    })),
  )
}

/** Voices of a better model stand in for people. */
async function synthetic(server: Server): Promise<Reader[]> {
  const readers: Reader[] = []
  for (const name of kokoroVoices) {
    const clips: Uint8Array<ArrayBuffer>[] = []
    for (const [text] of readings) clips.push((await server.speak('own-kokoro-82m-q8', name, text)).found)
    readers.push({ name, clips })
    console.error(`${name} has read`)
  }
  return readers
}

async function fileOf(clip: Uint8Array<ArrayBuffer>, name: string): Promise<string> {
  const { pcm, sampleRateHz } = await decodeFile(clip, 60)
  const path = join(process.env['TMPDIR'] ?? '/tmp', `myna-reader-${name}.wav`)
  await Bun.write(path, wavOf(pcm, sampleRateHz))
  return path
}

const wavOf = (pcm: Float32Array, sampleRateHz: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array(
    sound.wav(
      Int16Array.from(pcm, (sample) => 32_767 * Math.min(1, Math.max(-1, sample))),
      sampleRateHz,
    ),
  )

/** White. */
function withNoise(pcm: Float32Array): Float32Array {
  const random = new Seeded(1)
  const level = 10 ** ((levelDb(pcm) - noisyDb) / 20) * Math.sqrt(3)
  return pcm.map((sample) => sample + level * (2 * random.next() - 1))
}
