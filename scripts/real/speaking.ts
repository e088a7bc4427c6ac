/** Sentences by Kokoro, in Myna and in kokoro-onnx: how intelligible they are, and how DNSMOS rates their sound. */
import { existsSync, mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { medianOf, printTable } from '../bench/figures.ts'
import { pythonPeer } from './peer.ts'
import type { Subject } from './subject.ts'
import { ct2Of, nodePeers, python } from './weights.ts'
import { rateOf, type WordErrors, wordErrors } from './words.ts'

const voice = 'af_heart'
const texts = [
  'A long time ago there lived in a small village a woman who knew the names of all the stars.',
  'The meeting was moved to the last week of the month, because nobody could find the keys of the hall.',
  'Please put the two blue boxes on the shelf behind the door, and bring me the letter that came this morning.',
  'When the rain stopped, the children ran down to the river to see how high the water stood.',
  'It is never too late to learn how to listen, said the old teacher, and he closed his book.',
  'The engine of the boat made so much noise that we could hardly hear each other speak.',
]

interface Spoken {
  path: string
  seconds: number
  cpu: number
}

interface Result {
  errors: WordErrors[]
  /** Of each sound. */
  ovr: number[]
  /** Milliseconds of processor time and of wall time for each second of sound; of each sound. */
  cpuMs: number[]
  wallMs: number[]
}

/** Every text by both in turn, as often as there are rounds. faster-whisper's transcript is compared with the text. */
export async function measureSpeaking(subject: Subject, shared: string, rounds = 1): Promise<void> {
  const dnsmos = join(shared, 'data', 'judges', 'dnsmos', 'sig_bak_ovr.onnx')
  if (!existsSync(dnsmos)) return console.log(`\nspeaking: left out, no DNSMOS in ${shared}`)
  const folder = join(nodePeers, 'spoken')
  mkdirSync(folder, { recursive: true })
  const model = join(realWeightsRoot, 'kokoro-82m-q8')
  const kokoroOnnx = pythonPeer(python, 'speak', join(model, 'model.onnx'), join(model, 'voices'))
  const listener = pythonPeer(python, 'listen', ct2Of('whisper-base'), 'float32')
  const judge = pythonPeer(python, 'judge', dnsmos)
  const speakers: Record<string, (text: string, path: string) => Promise<Spoken>> = {
    'myna, kokoro int8': async (text, path) => {
      const { found, cpu } = await subject.speak(voice, text)
      await Bun.write(path, found)
      return { path, cpu, seconds: (found.length - 44) / 2 / 24_000 }
    },
    'kokoro-onnx, int8': async (text, path) => ({
      path,
      ...(await kokoroOnnx.ask<{ seconds: number; cpu: number }>({ text, voice, path })),
    }),
  }
  const names = Object.keys(speakers)
  for (const name of names) await speakers[name]!('One.', join(folder, 'first.wav'))
  const results = new Map(names.map((name): [string, Result] => [name, { errors: [], ovr: [], cpuMs: [], wallMs: [] }]))
  const inTurn = Array.from({ length: rounds }, () => texts).flat()
  for (const [at, text] of inTurn.entries()) {
    for (const [index] of names.entries()) {
      const name = names[(at + index) % names.length]!
      const beganMs = performance.now()
      const { path, seconds, cpu } = await speakers[name]!(text, join(folder, `${at}-${index}.wav`))
      const wallMs = performance.now() - beganMs
      const heard = await listener.ask<{ text: string }>({ path })
      const { ovr } = await judge.ask<{ ovr: number }>({ path })
      const result = results.get(name)!
      result.errors.push(wordErrors(text, heard.text))
      result.ovr.push(ovr)
      result.cpuMs.push((1000 * cpu) / seconds)
      result.wallMs.push(wallMs / seconds)
      console.error(`${name} ${cpu.toFixed(1)} s for ${seconds.toFixed(1)} s: ${heard.text}`)
    }
  }
  await Promise.all([kokoroOnnx, listener, judge].map((peer) => peer.end()))
  const load = loadavg().map((value) => value.toFixed(1))
  printTable(`${texts.length} sentences, medians of ${inTurn.length}, load average ${load.join(' ')}`, [
    ['spoken by', 'word errors, %', 'DNSMOS', 'CPU ms a second', 'wall ms a second'],
    ...[...results].map(([name, { errors, ovr, cpuMs, wallMs }]) => [
      name,
      rateOf(errors),
      medianOf(ovr).toFixed(2),
      medianOf(cpuMs),
      medianOf(wallMs),
    ]),
  ])
}
