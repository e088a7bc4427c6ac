/** Sound that is sent and cleared, again and again: it takes no memory, and what still waits is bounded. */
import { expect, test } from 'bun:test'
import { startListening } from '../http/transcription/transcription.fixture.ts'
import { unlessAborted } from '../testing/fake-engine.ts'
import { FakeTranscriber } from '../testing/fake-transcriber.ts'
import { RealtimeClient } from './client.fixture.ts'

const megabyte = 1_000_000
/** G.711, so that a little text is much sound: 8 MB of samples. */
const seconds = 250
const audio = Buffer.alloc(8000 * seconds, 0x55).toString('base64')
const format = { type: 'audio/pcmu' }

async function sendAndClear(client: RealtimeClient): Promise<void> {
  client.send({ type: 'input_audio_buffer.append', audio })
  client.send({ type: 'input_audio_buffer.clear' })
  await client.until('buffer.cleared')
}

function residentNow(): number {
  Bun.gc(true)
  return process.memoryUsage.rss()
}

test('where the client commits, what was cleared is forgotten', async () => {
  await using instance = await startListening()
  using client = await RealtimeClient.connect(instance.url, { key: await instance.key() })
  client.update({ turn_detection: null, format })
  for (let round = 0; round < 3; round++) await sendAndClear(client)
  const before = residentNow()
  for (let round = 0; round < 30; round++) await sendAndClear(client)
  // 240 MB were sent.
  expect(residentNow() - before).toBeLessThan(80 * megabyte)
}, 60_000)

test('what the detector has not taken yet counts, cleared or not', async () => {
  const transcriber = new FakeTranscriber()
  // A detector that takes nothing.
  transcriber.watchSpeech = async function* (_, signal) {
    await unlessAborted(new Promise<void>(() => {}), signal)
    yield new Float32Array(0)
  }
  await using instance = await startListening({}, undefined, { transcriber })
  using client = await RealtimeClient.connect(instance.url, { key: await instance.key() })
  client.update({ format })
  await sendAndClear(client)
  client.send({ type: 'input_audio_buffer.append', audio })
  expect((await client.until('error')).at(-1)).toMatchObject({ error: { code: 'input_audio_buffer_full' } })
  expect((await client.closed()).code).toBe(1009)
}, 60_000)
