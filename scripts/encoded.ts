/**
 * What each format does to speech: every sound of a folder is encoded at 24 kHz as the server does it, decoded again
 * and judged beside the original by PESQ (ITU-T P.862.2, wideband, at most 4.64) and DNSMOS.
 *
 *   python3 -m pip install numpy soundfile soxr pesq onnxruntime
 *   bun scripts/encoded.ts FOLDER [--formats opus,mp3,aac] [--dnsmos sig_bak_ovr.onnx]
 *
 * FOLDER holds sounds that Myna can decode, such as what `myna say -o` writes.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sound } from '../src/audio/clip.ts'
import { decodeFile } from '../src/audio/decode/clip.ts'
import { EncoderPool } from '../src/audio/encode/pool.ts'
import { encoded, rateHz } from './bench/encoders.ts'
import { medianOf, printTable } from './bench/figures.ts'
import { pythonPeer } from './real/peer.ts'
import { load, processor } from './real/machine.ts'

const known = ['opus', 'mp3', 'aac'] as const
const rounds = 3

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { formats: { type: 'string', default: known.join(',') }, dnsmos: { type: 'string', default: '' } },
})
const folder = positionals[0]
const formats = values.formats.split(',').map((name) => known.find((format) => format === name))
if (folder === undefined || formats.includes(undefined)) {
  console.error(`bun scripts/encoded.ts FOLDER [--formats ${known.join(',')}] [--dnsmos FILE]`)
  process.exit(2)
}

const work = mkdtempSync(join(tmpdir(), 'myna-encoded-'))
const pool = new EncoderPool({ workers: 1 })
const likeness = pythonPeer('python3', 'pesq')
const judge = values.dnsmos === '' ? null : pythonPeer('python3', 'judge', values.dnsmos)
try {
  const originals = await Promise.all(readdirSync(folder).toSorted().map(prepared))
  const rows = [['not encoded', '', '', '', '', await ratingOf(originals.map(({ path }) => path))]]
  for (const format of formats) if (format !== undefined) rows.push(await measured(format, originals))
  const head = ['format', 'ms a second', 'bytes a second', 'PESQ', 'worst', 'DNSMOS']
  printTable(`${originals.length} sounds; ${processor()}, ${load()}`, [head, ...rows])
} finally {
  pool.close()
  await Promise.all([likeness.end(), judge?.end()])
  rmSync(work, { recursive: true, force: true })
}

interface Original {
  name: string
  path: string
  pcm: Int16Array
}

async function prepared(name: string): Promise<Original> {
  const { pcm, sampleRateHz } = await decodeFile(await Bun.file(join(folder!, name)).bytes(), 600)
  const original = await sound.resampled(pcm, sampleRateHz, rateHz)
  const path = join(work, `${name}.wav`)
  await Bun.write(path, sound.wav(original, rateHz))
  return { name, path, pcm: original }
}

async function measured(format: (typeof known)[number], originals: readonly Original[]): Promise<string[]> {
  const costs: number[] = []
  const pesq: number[] = []
  const copies: string[] = []
  let size = 0
  for (const { name, path, pcm } of originals) {
    const { bytes } = await encoded(pool, format, pcm)
    // Not the first time, which compiles the codec.
    for (let round = 0; round < rounds; round++) costs.push((await encoded(pool, format, pcm)).ms)
    size += bytes.length
    const { pcm: back, sampleRateHz } = await decodeFile(bytes, 600)
    const copy = join(work, `${name}.${format}.wav`)
    await Bun.write(copy, sound.wav(await sound.resampled(back, sampleRateHz, rateHz), rateHz))
    pesq.push((await likeness.ask<{ pesq: number }>({ path: copy, original: path })).pesq)
    copies.push(copy)
  }
  const seconds = originals.reduce((sum, { pcm }) => sum + pcm.length, 0) / rateHz
  const likenesses = [meanOf(pesq).toFixed(3), Math.min(...pesq).toFixed(2)]
  return [format, medianOf(costs).toFixed(1), (size / seconds).toFixed(0), ...likenesses, await ratingOf(copies)]
}

/** DNSMOS on average; empty without one. */
async function ratingOf(paths: readonly string[]): Promise<string> {
  if (judge === null) return ''
  const ratings: number[] = []
  for (const path of paths) ratings.push((await judge.ask<{ ovr: number }>({ path })).ovr)
  return meanOf(ratings).toFixed(3)
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / numbers.length
}
