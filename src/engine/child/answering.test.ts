import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { toS16 } from '../../audio/pcm.ts'
import { testEngineCommand, type TestEngine } from '../../testing/engine-child.ts'
import { noise, silence, speech, words } from '../../testing/speech-clips.ts'
import { Talk } from '../../testing/talk.ts'
import { testClip, toneSample } from '../../testing/test-voice.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const talks: Talk[] = []
afterEach(async () => {
  for (const talk of talks) talk.child.kill()
  await Promise.all(talks.splice(0).map((talk) => talk.child.ended))
})

async function ready(options: Partial<TestEngine> = {}): Promise<Talk> {
  const talk = new Talk(testEngineCommand(options))
  talks.push(talk)
  await talk.until('ready')
  return talk
}
const modelsOf = async (talk: Talk) =>
  (await talk.status()).models.map(({ id, activeStreams }) => [id, activeStreams] as const)

test('finds speech in a clip, and none in noise', async () => {
  const talk = await ready()
  const pcm = await speech(words)
  talk.send({ type: 'detect', query: 5, pcm })
  talk.send({ type: 'detect', query: 6, pcm: noise(1) })
  const answers = await talk.until('detected', 2)
  const [spoken, noisy] = [5, 6].map((query) => answers.find((answer) => answer.query === query)?.spans)
  expect(noisy).toEqual([])
  expect(spoken?.length).toBe(1)
  expect(spoken?.[0]?.endMs).toBeWithin(2500, pcm.length / 16 + 1)
  expect(await modelsOf(talk)).toEqual([['silero-vad', 0]])
})

test('the state of a clone arrives without the buffer behind it, and a stream speaks with it', async () => {
  const talk = await ready()
  talk.send({ type: 'clone', query: 1, model: 'test', ...testClip(130) })
  const [answer] = await talk.until('cloned')
  expect(answer?.state).toEqual(Uint8Array.of(130))
  expect(answer?.state.buffer.byteLength).toBe(1)
  talk.speak(1, 'bird', 10, { voiceState: answer!.state, voiceId: 'voice_of_somebody' })
  await talk.until('end')
  const tone = toS16(Float32Array.from({ length: 960 }, (_, i) => toneSample(i, 24_000, 130)))
  expect(talk.all('frame').map(({ pcm }) => pcm)).toEqual([tone])
})

test('refused by the model, or failed for other reasons: each has its own message', async () => {
  const talk = await ready()
  talk.send({ type: 'clone', query: 1, model: 'test', ...testClip(0, 'refuse') })
  talk.send({ type: 'clone', query: 2, model: 'test', ...testClip(0, 'throw') })
  talk.send({ type: 'clone', query: 3, model: 'test-16k', ...testClip(0) })
  talk.send({ type: 'clone', query: 4, model: 'nobody', ...testClip(0) })
  const [refused] = await talk.until('clone_refused')
  expect(refused).toMatchObject({ query: 1, message: 'There is no pitch in it: say a few sentences.' })
  const failed = (await talk.until('query_failed', 3)).toSorted((a, b) => a.query - b.query)
  expect(failed.map(({ query, message }) => [query, message.split('\n')[0]])).toEqual([
    [2, 'Error: the model failed on purpose'],
    [3, 'Error: test-16k cannot clone'],
    [4, 'nobody could not be loaded: there is no such model for text-to-speech'],
  ])
  expect(await modelsOf(talk)).toEqual([
    ['test', 0],
    ['test-16k', 0],
  ])
})

test('a dropped query is answered once, when its work has stopped; dropping an unknown one has no effect', async () => {
  const talk = await ready()
  talk.send({ type: 'detect', query: 1, pcm: silence(600) })
  talk.send({ type: 'clone', query: 2, model: 'test', ...testClip(0, 'untilDropped') })
  while (!(await modelsOf(talk)).some(([id, active]) => id === 'silero-vad' && active === 1)) continue
  for (const query of [1, 2, 3]) talk.send({ type: 'drop', query })
  const failed = await talk.until('query_failed', 2)
  expect(failed.map(({ query }) => query).toSorted()).toEqual([1, 2])
  expect(await modelsOf(talk)).toEqual([
    ['test', 0],
    ['silero-vad', 0],
  ])
  expect(talk.all('detected')).toEqual([])
})

test('a stream and the engine itself stay responsive during a long clip', async () => {
  const talk = await ready()
  talk.send({ type: 'detect', query: 1, pcm: silence(120) })
  talk.speak(1, 'a b c', 10)
  await talk.until('end')
  expect(talk.all('detected')).toEqual([])
  await talk.until('detected')
})

test('idle is reported once nothing is left in memory, the detector included', async () => {
  const talk = await ready({ keepAliveMs: 20 })
  talk.send({ type: 'detect', query: 1, pcm: silence(1) })
  talk.speak(1, 'a', 10)
  await talk.until('idle')
  expect((await talk.status()).models).toEqual([])
})

test('stop ends it in the middle of both', async () => {
  const talk = await ready()
  talk.send({ type: 'detect', query: 1, pcm: silence(600) })
  talk.send({ type: 'clone', query: 2, model: 'test', ...testClip(0, 'untilDropped') })
  await talk.status()
  talk.send({ type: 'stop' })
  expect(await talk.child.ended).toMatchObject({ code: 0, signal: null })
})
