/**
 * Servers end to end, in turn: the first byte, the whole answer, processor time and memory of all their processes, and
 * whether the words are right. One client asks for one thing after another, then several do so at once.
 */
import { join } from 'node:path'
import { sound } from '../../src/audio/clip.ts'
import { medianOf, printTable } from '../bench/figures.ts'
import type { Clip } from './clips.ts'
import { load } from './machine.ts'
import { pythonPeer } from './peer.ts'
import { peerPython } from './peer-packages.ts'
import { cpuOf, peakOfTree } from './tree.ts'
import { lengthOf, sentences } from './texts.ts'
import type { HearingServer, SpeakingServer, VoiceServer } from './voice-servers.ts'
import { ct2Of, work } from './weights.ts'
import { rateOf, type WordErrors, wordErrors } from './words.ts'

const rateHz = 24_000
const severalClients = 4

interface Answer {
  firstMs: number
  wholeMs: number
  bytes: Uint8Array
}

/** Of each answer, and of each round. */
interface Figures {
  firstMs: number[]
  wholeMs: number[]
  errors: WordErrors[]
  /** Seconds of sound for a second of the clock, and processor milliseconds for a second of sound. */
  speed: number[]
  cpuMs: number[]
}

/** One way to ask one server. */
interface Way {
  name: string
  server: VoiceServer
  ask(item: number): Promise<Answer>
  /** Seconds of sound that were spoken or heard, and the words that are right or wrong. */
  judge(item: number, answer: Answer): Promise<{ seconds: number; errors: WordErrors }>
}

/** @param servers by name; `streams`: whether the answer is a stream, and both are measured where both exist */
export async function compareSpeaking(
  servers: readonly { name: string; server: SpeakingServer; streams: readonly boolean[] }[],
  rounds: number,
): Promise<void> {
  const listener = pythonPeer(peerPython, 'listen', ct2Of('whisper-base'), 'float32')
  const path = join(work, 'spoken.wav')
  const waysFor = (texts: readonly string[]): Way[] =>
    servers.flatMap(({ name, server, streams }) =>
      streams.map((streamed) => ({
        name: `${name}, ${streamed ? 'streamed' : 'whole'}`,
        server,
        ask: (item: number) => timed(() => server.speak(texts[item]!, streamed)),
        judge: async (item: number, { bytes }: Answer) => {
          const samples = new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length >> 1)
          await Bun.write(path, sound.wav(samples, rateHz))
          const { text } = await listener.ask<{ text: string }>({ path })
          return { seconds: samples.length / rateHz, errors: wordErrors(texts[item]!, text) }
        },
      })),
    )
  for (const [texts, clients] of [
    [sentences, 1],
    [[sentences.join(' ')], 1],
    [sentences, severalClients],
  ] as const) {
    const what = `${lengthOf(texts)}, spoken by servers for ${clients} at a time`
    await compare(what, waysFor(texts), texts.length, clients, rounds)
  }
  await listener.end()
}

export async function compareHearing(
  servers: readonly { name: string; server: HearingServer }[],
  clips: readonly Clip[],
  rounds: number,
): Promise<void> {
  const ways = servers.map(({ name, server }): Way => ({
    name,
    server,
    ask: (item) => timed(() => server.hear(clips[item]!)),
    judge: (item, { bytes }) => {
      const { text } = JSON.parse(new TextDecoder().decode(bytes)) as { text: string }
      return Promise.resolve({ seconds: clips[item]!.seconds, errors: wordErrors(clips[item]!.reference, text) })
    },
  }))
  for (const clients of [1, severalClients]) {
    const what = `${clips.length} clips, transcribed by servers for ${clients} at a time`
    await compare(what, ways, clips.length, clients, rounds)
  }
}

/** Every way answers everything once in a round; who begins changes with the round. */
async function compare(what: string, ways: readonly Way[], items: number, clients: number, rounds: number) {
  const results = new Map(
    ways.map(({ name }): [string, Figures] => [name, { firstMs: [], wholeMs: [], errors: [], speed: [], cpuMs: [] }]),
  )
  for (const { ask } of ways) await ask(0)
  for (let round = 0; round < rounds; round++) {
    for (const [index] of ways.entries()) {
      const way = ways[(round + index) % ways.length]!
      await oneRound(way, results.get(way.name)!, items, clients)
      console.error(`${what}: ${way.name}`)
    }
  }
  const head = ['server', 'first byte, ms', 'whole answer, ms', 'sound s per s', 'CPU ms a second', 'word errors, %']
  printTable(`${what}, medians of ${rounds} rounds, ${load()}`, [
    [...head, 'peak MB'],
    ...ways.map(({ name, server }) => {
      const { firstMs, wholeMs, speed, cpuMs, errors } = results.get(name)!
      const medians = [firstMs, wholeMs, speed, cpuMs].map(medianOf)
      return [name, ...medians, rateOf(errors), Math.round(peakOfTree(server.pid) / 1e6)]
    }),
  ])
}

/** Each client takes the next item when its answer is whole. */
async function oneRound(way: Way, figures: Figures, items: number, clients: number): Promise<void> {
  const answers = new Map<number, Answer>()
  const waiting = Array.from({ length: items }, (_, item) => item)
  const cpuBefore = cpuOf(way.server.pid)
  const beganMs = performance.now()
  const client = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) answers.set(item, await way.ask(item))
  }
  await Promise.all(Array.from({ length: clients }, client))
  const wallMs = performance.now() - beganMs
  const cpuMs = 1000 * (cpuOf(way.server.pid) - cpuBefore)
  let seconds = 0
  for (const [item, answer] of answers) {
    const judged = await way.judge(item, answer)
    seconds += judged.seconds
    figures.errors.push(judged.errors)
    figures.firstMs.push(answer.firstMs)
    figures.wholeMs.push(answer.wholeMs)
  }
  figures.speed.push((1000 * seconds) / wallMs)
  figures.cpuMs.push(cpuMs / seconds)
}

/** @throws Error unless the answer is good */
async function timed(ask: () => Promise<Response>): Promise<Answer> {
  const beganMs = performance.now()
  const answer = await ask()
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  let firstMs = 0
  const parts: Uint8Array[] = []
  for await (const part of answer.body!) {
    if (firstMs === 0) firstMs = performance.now() - beganMs
    parts.push(part)
  }
  return { firstMs, wholeMs: performance.now() - beganMs, bytes: new Uint8Array(Buffer.concat(parts)) }
}
