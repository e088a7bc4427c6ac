/** Sentences by Kokoro in Myna, kokoro-onnx and sherpa-onnx: how intelligible they are, and what DNSMOS says. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { medianOf, printTable } from '../bench/figures.ts'
import { load } from './machine.ts'
import { type Peer, pythonPeer } from './peer.ts'
import { peerPython } from './peer-packages.ts'
import { sherpaKokoro } from './sherpa.ts'
import type { Subject } from './subject.ts'
import { lengthOf, sentences, voice } from './texts.ts'
import { ct2Of, work } from './weights.ts'
import { rateOf, type WordErrors, wordErrors } from './words.ts'

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

/** Every text by all in turn, as often as there are rounds. faster-whisper's transcript is compared with the text. */
export async function measureSpeaking(subject: Subject, shared: string, rounds = 1): Promise<void> {
  const dnsmos = join(shared, 'data', 'judges', 'dnsmos', 'sig_bak_ovr.onnx')
  if (!existsSync(dnsmos)) return console.log(`\nspeaking: left out, no DNSMOS in ${shared}`)
  const folder = join(work, 'spoken')
  mkdirSync(folder, { recursive: true })
  const model = join(realWeightsRoot, 'kokoro-82m-q8')
  const kokoroOnnx = pythonPeer(peerPython, 'speak', join(model, 'model.onnx'), join(model, 'voices'))
  const sherpa = pythonPeer(peerPython, 'sherpa-speak', ...(await sherpaKokoro(voice)))
  const listener = pythonPeer(peerPython, 'listen', ct2Of('whisper-base'), 'float32')
  const judge = pythonPeer(peerPython, 'judge', dnsmos)
  const asked = (peer: Peer) => async (text: string, path: string) => ({
    path,
    ...(await peer.ask<{ seconds: number; cpu: number }>({ text, voice, path })),
  })
  const speakers: Record<string, (text: string, path: string) => Promise<Spoken>> = {
    'myna, kokoro int8': async (text, path) => {
      const { found, cpu } = await subject.speak(voice, text)
      await Bun.write(path, found)
      return { path, cpu, seconds: (found.length - 44) / 2 / 24_000 }
    },
    'kokoro-onnx, int8': asked(kokoroOnnx),
    'sherpa-onnx, kokoro int8': asked(sherpa),
  }
  const names = Object.keys(speakers)
  for (const name of names) await speakers[name]!('One.', join(folder, 'first.wav'))
  const results = new Map(names.map((name): [string, Result] => [name, { errors: [], ovr: [], cpuMs: [], wallMs: [] }]))
  const inTurn = Array.from({ length: rounds }, () => sentences).flat()
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
  await Promise.all([kokoroOnnx, sherpa, listener, judge].map((peer) => peer.end()))
  printTable(`${lengthOf(sentences)}, medians of ${inTurn.length}, ${load()}`, [
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
