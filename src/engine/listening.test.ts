import { beforeEach, expect, test } from 'bun:test'
import type { TranscriptPart } from '../service/ports/transcription.ts'
import { Clip } from '../testing/dictation.ts'
import { until } from '../testing/until.ts'
import { Listening } from './listening.ts'
import { clipBlockSamples } from './protocol.ts'
import { ReplyStream } from './reply-stream.ts'

let nowMs: number
let sent: (number | 'last' | 'cancel')[]
beforeEach(() => {
  nowMs = 1000
  sent = []
})

/** With a reader that waits for the next part. */
function begin(clip: Clip) {
  let listening: Listening<TranscriptPart> | null = null
  const parts = new ReplyStream<TranscriptPart>(new AbortController().signal, {
    start: () => {},
    onTaken: () => void listening?.read(),
    onCancel: () => listening?.cancel(),
  })
  const first = parts.next()
  listening = new Listening({
    model: null,
    clip: clip[Symbol.asyncIterator](),
    parts,
    nowMs: () => nowMs,
    send(pcm, isLast) {
      expect(pcm.buffer.byteLength).toBe(pcm.byteLength)
      sent.push(isLast ? 'last' : pcm.length)
    },
    sendCancel: () => sent.push('cancel'),
    failure: () => new Error('the engine failed'),
  })
  return { listening, parts, first }
}
const part = (heardMs: number): TranscriptPart => ({ segments: [], language: null, heardMs })

test('the child is sent what it wants and no more, in blocks that own their buffers', async () => {
  const { listening } = begin(Clip.of(new Int16Array(100_000), 70_000))
  listening.want(20_000)
  await until('it is sent', () => sent.length === 2)
  expect(sent).toEqual([clipBlockSamples, 20_000 - clipBlockSamples])
  listening.want(500_000)
  await until('all is sent', () => sent.at(-1) === 'last')
  const numbers = sent.filter((one) => typeof one === 'number')
  expect(numbers.reduce((sum, samples) => sum + samples, 0)).toBe(100_000)
  expect(Math.max(...numbers)).toBe(clipBlockSamples)
  listening.want(500_000)
  expect(sent.at(-1)).toBe('last')
})

test('the child owes a result from its order on, once it has what it wants, but not while it waits', async () => {
  const { listening, parts, first } = begin(Clip.of(new Int16Array(30_000), 10_000))
  expect(listening.owedSinceMs).toBe(1000)
  nowMs = 2000
  listening.want(20_000)
  expect(listening.owedSinceMs).toBe(null)
  await until('it has them', () => sent.length === 2)
  expect(listening.owedSinceMs).toBe(2000)
  nowMs = 3000
  listening.heard(part(1))
  await first
  expect(listening.owedSinceMs).toBe(3000)
  nowMs = 4000
  listening.want(20_000)
  listening.renew()
  expect(listening.owedSinceMs).toBe(null)
  await until('that was all', () => sent.at(-1) === 'last')
  expect(listening.owedSinceMs).toBe(4000)
  nowMs = 5000
  listening.renew()
  expect(listening.owedSinceMs).toBe(5000)
  await parts.return()
  nowMs = 6000
  listening.renew()
  expect([listening.isCancelled, listening.owedSinceMs, sent.at(-1)]).toEqual([true, 5000, 'cancel'])
})

test('an end before that of the clip is a failure: nothing is silently cut short', async () => {
  const clip = Clip.endless(new Int16Array(1000))
  const { listening, first } = begin(clip)
  listening.want(2000)
  await until('it has them', () => sent.length === 2)
  listening.finish(null)
  await expect(first).rejects.toThrow('the engine failed')
  expect(clip.hasEnded).toBe(true)
})

test('the end of all of it is the end', async () => {
  const { listening, first } = begin(Clip.of(new Int16Array(10)))
  listening.want(1000)
  await until('that was all', () => sent.at(-1) === 'last')
  listening.finish(null)
  expect((await first).done).toBe(true)
})

test('cancelled: the reader is notified, the child is to stop, and the clip is closed', async () => {
  const clip = Clip.endless(new Int16Array(1000))
  const { listening, first } = begin(clip)
  listening.giveUp('it was late')
  await expect(first).rejects.toThrow('the engine failed')
  expect([clip.hasEnded, listening.isCancelled, sent]).toEqual([true, true, ['cancel']])
  listening.want(1000)
  expect(listening.owedSinceMs).toBe(1000)
})
