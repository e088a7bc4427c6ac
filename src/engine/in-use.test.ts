/** Which models an engine reports as used by requests: only those may not be removed. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { order } from '../testing/talk.ts'
import { testClip } from '../testing/test-voice.ts'
import { until } from '../testing/until.ts'
import { TestClients } from './client.fixture.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const clients = new TestClients()
afterEach(() => clients.close())

test('a model is in use while requests want it, not while it is only loaded ahead of them', async () => {
  const client = clients.connect()
  client.start('test-stuck').catch(() => {})
  await until('it loads', async () => (await client.status()).loading.includes('test-stuck'))
  expect((await client.status()).inUse).toEqual([])
  const stop = new AbortController()
  const speaking = Array.fromAsync(client.speak(order('a', { model: 'test-stuck' }), stop.signal)).catch(() => {})
  await until('it is wanted', async () => (await client.status()).inUse.includes('test-stuck'))
  stop.abort()
  await speaking
})

test('a model is in use while it makes a clone', async () => {
  const client = clients.connect()
  const stop = new AbortController()
  const cloning = client.clone('test', testClip(90, 'untilDropped'), stop.signal).catch(() => {})
  const isAtWork = async () => (await client.status()).models.some(({ activeStreams }) => activeStreams > 0)
  await until('it is at work', isAtWork)
  expect((await client.status()).inUse).toEqual(['test'])
  stop.abort()
  await cloning
  await until('it is no longer wanted', async () => (await client.status()).inUse.length === 0)
})
