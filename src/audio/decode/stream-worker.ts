/**
 * Decodes one file after another, block by block on request. What a hostile file did to a codec's memory goes with the
 * codec: each file has its own, and a file that is damaged takes the thread with it. Nothing here may print, because
 * the codecs report every damaged frame.
 */
import { blocksOf } from './blocks.ts'
import { MonoReader } from './mono.ts'
import { type Refused, refusedBy } from './refusal.ts'
import { clipOnDisk } from './source.ts'

export type StreamCall =
  { name: 'open'; descriptor: number; sampleRateHz: number; maxSeconds: number } | { name: 'block' }

export type StreamAnswer =
  | { opened: { container: string; codec: string; durationMs: number | null } }
  | { block: Int16Array }
  | { block: null; skippedMs: number }
  | Refused

declare const self: Worker

const silent = (): void => {}
Object.assign(console, { log: silent, info: silent, warn: silent, error: silent })

let reader: MonoReader | null = null
let blocks: AsyncIterator<Int16Array<ArrayBuffer>> | null = null
/** The answer to all questions behind the last block. */
let end: StreamAnswer | null = null
let turn = Promise.resolve()

self.onmessage = ({ data }: MessageEvent<StreamCall>): void => {
  turn = turn.then(() => (data.name === 'open' ? open(data) : next()).catch(refuse))
}

async function open(call: StreamCall & { name: 'open' }): Promise<void> {
  end = null
  reader = await MonoReader.open(clipOnDisk(call.descriptor), call.maxSeconds)
  const { container, codec, declaredSeconds } = reader.file
  blocks = blocksOf(reader, call.sampleRateHz)
  const durationMs = declaredSeconds === null ? null : Math.round(declaredSeconds * 1000)
  answer({ opened: { container, codec, durationMs } }, [])
}

async function next(): Promise<void> {
  if (end !== null) return answer(end, [])
  if (reader === null || blocks === null) throw new Error('no file is open')
  const step = await blocks.next()
  if (step.done !== true) return answer({ block: step.value }, [step.value.buffer])
  end = { block: null, skippedMs: Math.round(1000 * reader.damage.seconds) }
  // The codec's memory: the thread may wait a while for its next file.
  reader = null
  blocks = null
  answer(end, [])
}

/** Anything but a refusal ends the thread, and the waiting caller gets an error. */
function refuse(error: unknown): void {
  answer(refusedBy(error), [])
}

const answer = (reply: StreamAnswer, transfer: ArrayBuffer[]): void => self.postMessage(reply, transfer)
