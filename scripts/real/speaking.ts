/** Sentences by Kokoro, in Myna and in kokoro-onnx: how intelligible they are, and how DNSMOS rates their sound. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { printTable } from '../bench/figures.ts'
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
  ovr: number
  seconds: number
  cpu: number
}

/** Every text by both in turn. faster-whisper's transcript is compared with the text. */
export async function measureSpeaking(subject: Subject, shared: string): Promise<void> {
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
  const results = new Map(names.map((name): [string, Result] => [name, { errors: [], ovr: 0, seconds: 0, cpu: 0 }]))
  for (const [at, text] of texts.entries()) {
    for (const [index] of names.entries()) {
      const name = names[(at + index) % names.length]!
      const { path, seconds, cpu } = await speakers[name]!(text, join(folder, `${at}-${index}.wav`))
      const heard = await listener.ask<{ text: string }>({ path })
      const { ovr } = await judge.ask<{ ovr: number }>({ path })
      const result = results.get(name)!
      result.errors.push(wordErrors(text, heard.text))
      result.ovr += ovr / texts.length
      result.seconds += seconds
      result.cpu += cpu
      console.error(`${name} ${cpu.toFixed(1)} s for ${seconds.toFixed(1)} s: ${heard.text}`)
    }
  }
  await Promise.all([kokoroOnnx, listener, judge].map((peer) => peer.end()))
  printTable(`${texts.length} sentences`, [
    ['spoken by', 'word errors, %', 'DNSMOS', 'CPU ms a second'],
    ...[...results].map(([name, { errors, ovr, seconds, cpu }]) => [
      name,
      rateOf(errors),
      ovr.toFixed(2),
      (1000 * cpu) / seconds,
    ]),
  ])
}
