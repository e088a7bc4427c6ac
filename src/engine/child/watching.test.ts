import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { concatS16 } from '../../audio/pcm.ts'
import { watchedSamples } from '../../service/ports/transcription.ts'
import { testEngineCommand } from '../../testing/engine-child.ts'
import { silence, speech } from '../../testing/speech-clips.ts'
import { Talk } from '../../testing/talk.ts'

// Real processes and the real detector, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const talks: Talk[] = []
afterEach(async () => {
  for (const talk of talks) talk.child.kill()
  await Promise.all(talks.splice(0).map((talk) => talk.child.ended))
})

async function watch(stream: number): Promise<Talk> {
  const talk = new Talk(testEngineCommand({ task: 'automatic-speech-recognition' }))
  talks.push(talk)
  await talk.until('ready')
  talk.send({ type: 'watch', stream })
  await talk.until('want')
  return talk
}

function send(talk: Talk, stream: number, pcm: Int16Array, blockSamples = 1600): void {
  for (let at = 0; at < pcm.length; at += blockSamples) {
    talk.send({ type: 'audio', stream, pcm: pcm.slice(at, at + blockSamples), isLast: false })
  }
}

const probabilitiesOf = (talk: Talk, stream: number): number[] =>
  talk.all('voiced', stream).flatMap(({ probabilities }) => [...probabilities])

test('distinguishes speech from silence, window by window, and reports each window once', async () => {
  const talk = await watch(1)
  const said = await speech('Good morning to you all.')
  const pcm = concatS16([silence(1), said, silence(1)])
  send(talk, 1, pcm)
  talk.send({ type: 'audio', stream: 1, pcm: new Int16Array(0), isLast: true })
  await talk.until('end', 1, 1)
  const found = probabilitiesOf(talk, 1)
  expect(found.length).toBe(Math.ceil(pcm.length / watchedSamples))
  const second = Math.floor(16_000 / watchedSamples)
  expect(Math.max(...found.slice(0, second))).toBeLessThan(0.5)
  const during = found.slice(second, second + Math.floor(said.length / watchedSamples))
  expect(during.filter((probability) => probability > 0.5).length).toBeGreaterThan(during.length / 2)
  expect(Math.max(...found.slice(-second / 2))).toBeLessThan(0.5)
})

test('the transcript arrives while the sound continues, and sounds do not mix', async () => {
  const talk = await watch(1)
  talk.send({ type: 'watch', stream: 2 })
  const said = await speech('Good morning to you all.')
  send(talk, 1, said)
  send(talk, 2, silence(1))
  await talk.until('voiced', Math.floor(said.length / 1600), 1)
  await talk.until('voiced', 5, 2)
  expect(Math.max(...probabilitiesOf(talk, 1))).toBeGreaterThan(0.5)
  expect(Math.max(...probabilitiesOf(talk, 2))).toBeLessThan(0.5)
  expect(talk.all('end')).toEqual([])
  for (const stream of [1, 2]) talk.send({ type: 'cancel', stream })
  await talk.until('end', 2)
})
