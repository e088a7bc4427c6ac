import { afterEach, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import type { Task } from '../../domain/card.ts'
import { EngineClient } from '../../engine/client.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { nicenessOf } from '../../testing/process.ts'
import { Talk } from '../../testing/talk.ts'
import { engineArguments, type EngineDevice, type EngineSettings } from './engine.ts'

const program = [process.execPath, join(import.meta.dir, '..', '..', 'main.ts')]
const talks: Talk[] = []
afterEach(async () => {
  for (const talk of talks) talk.child.kill()
  await Promise.all(talks.splice(0).map((talk) => talk.child.ended))
})

const settingsOf = (task: Task, device: EngineDevice = { kind: 'cpu', reason: null }): EngineSettings => ({
  task,
  parentPid: process.pid,
  keepAliveMs: 0,
  workers: 1,
  device,
  modelMemoryBytes: 1e9,
  roomWaitMs: 1000,
  nativeDir: temporaryFolder(),
  modelsDir: temporaryFolder(),
  pronunciations: null,
})

async function start(task: Task, device?: EngineDevice): Promise<Talk> {
  const talk = new Talk([...program, ...engineArguments(settingsOf(task, device))])
  talks.push(talk)
  await talk.until('ready')
  return talk
}

test('each task has an engine, all with the same priority, because users wait for transcriptions, too', async () => {
  const [speech, transcription] = [await start('text-to-speech'), await start('automatic-speech-recognition')]
  expect(nicenessOf(transcription.child.pid)).toBe(nicenessOf(speech.child.pid))
  speech.speak(1, 'Hello.', 100, { model: 'hibari', voiceId: 'lark' })
  await speech.until('end')
  const order = {
    share: 'account',
    task: 'transcribe',
    language: null,
    prompt: null,
    temperature: 0,
    words: false,
  } as const
  transcription.send({ type: 'transcribe', stream: 1, order: { ...order, model: 'hibari' } })
  const [failed] = await transcription.until('failed')
  expect(failed?.message).toContain('there is no such model for automatic-speech-recognition')
})

test('an engine on the CPU gives the reason when that was not requested', async () => {
  const talk = await start('text-to-speech', { kind: 'cpu', reason: 'no driver: see myna doctor' })
  expect(talk.all('ready')).toMatchObject([{ device: 'cpu', deviceReason: 'no driver: see myna doctor' }])
  expect((await talk.status()).deviceMemory).toBeNull()
})

/** A build of ONNX Runtime that can use CUDA, without the libraries for that. */
const withoutProvider = join(
  dirname(Bun.resolveSync('onnxruntime-node', import.meta.dir)),
  `../bin/napi-v6/${process.platform}/${process.arch}`,
)

test.each([
  ['no ONNX Runtime in its folder', temporaryFolder(), 'libonnxruntime.so.1'],
  ['no provider beside it', withoutProvider, 'libonnxruntime_providers_shared.so cannot be loaded: '],
])('an engine that is to use a card, and %s: it ends, and its last line gives the reason', async (_, dir, words) => {
  const lines: string[] = []
  const device = { kind: 'cuda', id: 0, dir, tf32: true } as const
  const client = new EngineClient({
    task: 'text-to-speech',
    command: [...program, ...engineArguments(settingsOf('text-to-speech', device))],
    env: {},
    fallBack: (reason) => ({
      command: [...program, ...engineArguments(settingsOf('text-to-speech', { kind: 'cpu', reason }))],
      env: {},
    }),
    readyMs: 60_000,
    stallMs: 60_000,
    loadMs: 60_000,
    log: (line) => lines.push(line),
  })
  await client.start()
  const status = await client.status()
  expect(status).toMatchObject({ state: 'ready', device: 'cpu', restarts: 0, lastError: null })
  expect(status.deviceReason).toContain(words)
  expect(status.deviceReason).not.toMatch(/\n|\//)
  expect(lines.join()).toContain(join(dir, 'libonnxruntime'))
  expect((await client.probe()).isExact).toBe(true)
  await client.close()
})
