/** Items that the client ends: what happens to their sound before the commit. */
import { expect, test } from 'bun:test'
import { concatS16 } from '../audio/pcm.ts'
import { usageOf } from '../http/transcription/transcription.fixture.ts'
import { until } from '../testing/until.ts'
import { type RealtimeClient, silence, tone, typesOf } from './client.fixture.ts'
import { engineFailed, item, manual, open } from './session.fixture.ts'

const commit = (client: RealtimeClient) => client.send({ type: 'input_audio_buffer.commit' })

test('an open microphone may be silent for as long as it likes', async () => {
  await using scene = await open({}, { input: manual })
  const { client, instance } = scene
  for (let second = 50; second <= 400; second += 50) {
    client.append(silence(50), 480_000)
    await until('the detector is done', () => instance.transcriber.watchedMs >= second * 1000 - 100)
  }
  client.append(tone(1))
  commit(client)
  const events = await client.until(`${item}.completed`)
  expect(typesOf(events)).not.toContain('error')
  // What is kept of the silence is not more than a moment.
  expect((events.at(-1)!.usage as { seconds: number }).seconds).toBeWithin(1, 4)
  expect(String(events.at(-1)!.transcript)).toMatch(/heard \d\.$/)
})

test('text arrives while the speaker is still talking, under the id of the item to come', async () => {
  await using scene = await open({}, { input: manual })
  const { client } = scene
  const events = []
  // As with the detector's turns.
  for (let second = 0; second < 4; second++) {
    client.append(tone(1))
    if (second >= 2) events.push(...(await client.until('.delta')))
  }
  expect(typesOf(events).filter((type) => !type.endsWith('.delta'))).toEqual([])
  commit(client)
  events.push(...(await client.until(`${item}.completed`)))
  const deltas = events.filter(({ type }) => type.endsWith('.delta'))
  expect(deltas.map(({ delta }) => delta).join('')).toBe(String(events.at(-1)!.transcript))
  const ids = [...deltas, events.at(-1)!, events.find(({ type }) => type.endsWith('committed'))!]
  expect(new Set(ids.map(({ item_id: id }) => id)).size).toBe(1)
  expect(events.at(-1)).toMatchObject({ usage: { seconds: 4 } })
})

test('what was said up to a pause is transcribed, and is one item with the rest', async () => {
  await using scene = await open({}, { input: manual })
  const { client, instance, key } = scene
  client.append(concatS16([tone(1), silence(2)]))
  const [first] = await client.until('.delta')
  await until('it is in the usage', async () => (await usageOf(instance, key)).requests === 1)
  client.append(concatS16([silence(30), tone(1)]), 480_000)
  commit(client)
  const events = await client.until(`${item}.completed`)
  expect(typesOf(events).filter((type) => /committed|added|done/.test(type))).toHaveLength(3)
  const deltas = [first!, ...events].filter(({ type }) => type.endsWith('.delta'))
  expect(new Set(deltas.map(({ item_id: id }) => id)).size).toBe(1)
  expect(deltas.map(({ delta }) => delta).join('')).toBe(String(events.at(-1)!.transcript))
  expect(String(events.at(-1)!.transcript)).toMatch(/^heard 0\. .*heard \d+\.$/)
  expect(await usageOf(instance, key)).toMatchObject({ requests: 2 })
})

test('a part that fails makes the item fail, after its commit', async () => {
  await using scene = await open({}, { input: manual })
  const { client, instance } = scene
  instance.transcriber.plan = ({ prompt }) => (prompt === 'fail' ? { failAt: 0 } : {})
  client.update({ transcription: { prompt: 'fail' } })
  client.append(concatS16([tone(1), silence(2)]))
  await until('the detector has heard it', () => instance.transcriber.watchedMs >= 2900)
  client.update({ transcription: { prompt: null } })
  client.append(tone(1))
  commit(client)
  const events = await client.until(`${item}.failed`)
  expect(typesOf(events)).toContain('input_audio_buffer.committed')
  client.append(tone(1))
  commit(client)
  expect((await client.until(`${item}.completed`)).at(-1)).toMatchObject({ transcript: 'heard 0.' })
})

test('what is cleared is not in the item that follows', async () => {
  await using scene = await open({}, { input: manual })
  const { client } = scene
  client.append(concatS16([tone(1), silence(2)]))
  const [first] = await client.until('.delta')
  client.send({ type: 'input_audio_buffer.clear' })
  client.append(tone(1))
  commit(client)
  const events = await client.until(`${item}.completed`)
  expect((events.at(-1)!.usage as { seconds: number }).seconds).toBeWithin(0.9, 1.1)
  expect(events.at(-1)!.item_id).not.toBe(first!.item_id)
})

test('a commit right after a pause needs no more sound', async () => {
  await using scene = await open({}, { input: manual })
  const { client, instance, key } = scene
  client.append(concatS16([tone(1), silence(1.4)]))
  await until('a part has ended', async () => {
    client.append(silence(0.04))
    return (await usageOf(instance, key)).requests === 1
  })
  commit(client)
  const events = await client.until(`${item}.completed`)
  expect(typesOf(events)).not.toContain('error')
  expect(String(events.at(-1)!.transcript)).toStartWith('heard 0.')
})

test('nothing of it is lost when the engine crashes in the middle', async () => {
  await using scene = await open({}, { input: manual })
  const { client, instance } = scene
  client.append(tone(1))
  await until('the detector has heard it', () => instance.transcriber.watchedMs >= 900)
  instance.clock.advance(10_000)
  instance.transcriber.watchFailures.push(engineFailed)
  client.append(concatS16([tone(1), silence(10)]), 480_000)
  commit(client)
  expect((await client.until(`${item}.completed`)).at(-1)).toMatchObject({ usage: { seconds: 12 } })
})
