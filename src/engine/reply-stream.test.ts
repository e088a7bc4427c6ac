import { beforeEach, expect, test } from 'bun:test'
import type { SpeechFrame } from '../service/ports.ts'
import { ReplyStream } from './reply-stream.ts'

const frame = (coveredChars: number) => ({ pcm: new Int16Array(1), coveredChars, engineMs: 0 })
const gone = new Error('client gone')
let calls: string[]
let abort: AbortController
beforeEach(() => {
  calls = []
  abort = new AbortController()
})
const open = () =>
  new ReplyStream<SpeechFrame>(abort.signal, {
    start: () => calls.push('start'),
    onTaken: () => calls.push('taken'),
    onCancel: () => calls.push('cancel'),
  })

test('nothing begins before the first frame is requested', async () => {
  const stream = open()
  expect(calls).toEqual([])
  const first = stream.next()
  stream.push(frame(1))
  expect((await first).value).toEqual(frame(1))
  expect(calls).toEqual(['start', 'taken'])
})

test('frames that arrived before the end are read first, then the end, forever', async () => {
  const stream = open()
  const first = stream.next()
  for (const chars of [1, 2, 3]) stream.push(frame(chars))
  stream.finish(null)
  const rest = [await stream.next(), await stream.next(), await stream.next(), await stream.next()]
  expect((await first).value?.coveredChars).toBe(1)
  expect(rest.map((result) => result.value?.coveredChars ?? null)).toEqual([2, 3, null, null])
  expect(calls).toEqual(['start', 'taken', 'taken', 'taken'])
})

test('an error comes after the frames, once', async () => {
  const stream = open()
  const first = stream.next()
  stream.push(frame(1))
  stream.push(frame(2))
  stream.finish({ reason: gone })
  expect([(await first).value?.coveredChars, (await stream.next()).value?.coveredChars]).toEqual([1, 2])
  await expect(stream.next()).rejects.toBe(gone)
  expect((await stream.next()).done).toBe(true)
})

test('an abort ends a waiting read with its reason, drops the rest and cancels once', async () => {
  const stream = open()
  const waiting = stream.next()
  abort.abort(gone)
  await expect(waiting).rejects.toBe(gone)
  stream.push(frame(1))
  expect((await stream.next()).done).toBe(true)
  await stream.return()
  expect(calls).toEqual(['start', 'cancel'])
})

test('an abort drops unread frames', async () => {
  const stream = open()
  const first = stream.next()
  stream.push(frame(1))
  stream.push(frame(2))
  await first
  abort.abort(gone)
  await expect(stream.next()).rejects.toBe(gone)
})

test('aborted before it began: nothing is started', async () => {
  abort.abort(gone)
  await expect(open().next()).rejects.toBe(gone)
  expect(calls).toEqual([])
})

test('a reader that stops cancels; one that read to the end does not', async () => {
  const stopped = open()
  void stopped.next()
  stopped.push(frame(1))
  await stopped.return()
  expect(calls).toEqual(['start', 'taken', 'cancel'])
  const read = open()
  const last = read.next()
  read.finish(null)
  await last
  await read.return()
  abort.abort(gone)
  expect(calls.slice(3)).toEqual(['start'])
})
