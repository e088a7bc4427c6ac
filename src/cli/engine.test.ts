import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Task } from '../domain/card.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { nicenessOf } from '../testing/process.ts'
import { Talk } from '../testing/talk.ts'
import { engineArguments } from './engine.ts'

const program = [process.execPath, join(import.meta.dir, '..', 'main.ts')]
const talks: Talk[] = []
afterEach(async () => {
  for (const talk of talks) talk.child.kill()
  await Promise.all(talks.splice(0).map((talk) => talk.child.ended))
})

async function start(task: Task): Promise<Talk> {
  const settings = {
    task,
    parentPid: process.pid,
    keepAliveMs: 0,
    workers: 1,
    modelMemoryBytes: 1e9,
    roomWaitMs: 1000,
    nativeDir: temporaryFolder(),
    modelsDir: temporaryFolder(),
    pronunciations: null,
  }
  const talk = new Talk([...program, ...engineArguments(settings)])
  talks.push(talk)
  await talk.until('ready')
  return talk
}

test('an engine for each task; transcription gives way to speech', async () => {
  const [speech, transcription] = [await start('text-to-speech'), await start('automatic-speech-recognition')]
  expect(nicenessOf(transcription.child.pid)).toBe(nicenessOf(speech.child.pid) + 10)
  speech.speak(1, 'Hello.', 100, { model: 'flite', voiceId: 'rms' })
  await speech.until('end')
  const order = { task: 'transcribe', language: null, prompt: null, temperature: 0, words: false } as const
  transcription.send({ type: 'transcribe', stream: 1, order: { ...order, model: 'flite' } })
  const [failed] = await transcription.until('failed')
  expect(failed?.message).toContain('no model of that name for automatic-speech-recognition')
})
