import { expect, test } from 'bun:test'
import { ManualClock } from '../../testing/manual-clock.ts'
import { Seeded } from '../../testing/seeded.ts'
import { OwnNames } from '../own-names.ts'
import { isFromHere, MemorySessions, Sessions, setCookie, tokenOf } from './sessions.ts'

const hourMs = 3_600_000

function sessions() {
  const clock = new ManualClock()
  return { clock, open: new Sessions(new MemorySessions(clock), new Seeded(11).fill) }
}

test('a session names its key until it is closed', async () => {
  const { open } = sessions()
  const [first, second] = [await open.open('hash 1'), await open.open('hash 2')]
  expect(first).not.toBe(second)
  expect(Buffer.from(first, 'base64url')).toHaveLength(32)
  expect([await open.use(first), await open.use(second)]).toEqual(['hash 1', 'hash 2'])
  await open.close(first)
  expect([await open.use(first), await open.use(second), await open.use('made up')]).toEqual([null, 'hash 2', null])
})

test('use renews a session, idleness ends it', async () => {
  const { clock, open } = sessions()
  const token = await open.open('hash')
  clock.advance(11 * hourMs)
  expect(await open.use(token)).toBe('hash')
  clock.advance(11 * hourMs)
  expect(await open.use(token)).toBe('hash')
  clock.advance(12 * hourMs)
  expect([await open.use(token), await open.use(token)]).toEqual([null, null])
})

test('too many sessions push out the one that was idle longest', async () => {
  const { open } = sessions()
  const [kept, dropped] = [await open.open('kept'), await open.open('dropped')]
  for (let more = 2; more < 1000; more++) await open.open('more')
  expect(await open.use(kept)).toBe('kept')
  await open.open('one too many')
  expect([await open.use(kept), await open.use(dropped)]).toEqual(['kept', null])
})

test('the cookie is found among others', () => {
  const token = (cookie: string) => tokenOf(new Headers({ cookie }))
  expect(token(setCookie('abc', true))).toBe('abc')
  expect(token('a=b; myna_session=x-1_Y; c=d')).toBe('x-1_Y')
  expect(token('not_myna_session=x')).toBeNull()
  expect(tokenOf(new Headers())).toBeNull()
})

const names = new OwnNames({ publicUrl: 'http://voice.example:8790', host: '127.0.0.1' })

const requests: [string, Record<string, string>, boolean][] = [
  ['GET', {}, true],
  ['GET', { 'sec-fetch-site': 'same-origin' }, true],
  ['GET', { 'sec-fetch-site': 'none' }, true],
  ['GET', { 'sec-fetch-site': 'cross-site' }, false],
  ['GET', { 'sec-fetch-site': 'same-site' }, false],
  ['GET', { origin: 'http://evil.example' }, false],
  ['POST', { origin: 'http://voice.example:8790' }, true],
  ['POST', { origin: 'https://voice.example:8790' }, true],
  ['POST', { origin: 'http://voice.example' }, false],
  ['POST', { origin: 'http://voice.example:8790', 'sec-fetch-site': 'cross-site' }, false],
  ['POST', { origin: 'null' }, false],
  ['POST', {}, false],
  ['DELETE', { 'sec-fetch-site': 'same-origin' }, true],
  // Behind a proxy that passes its own name on as Host.
  ['POST', { origin: 'https://public.example', 'sec-fetch-site': 'same-origin' }, true],
  ['POST', { origin: 'https://public.example', 'sec-fetch-site': 'none' }, false],
]

test.each(requests)('%s with %p is from here: %p', (method, headers, expected) => {
  const request = new Request('http://voice.example:8790/v1/me', {
    method,
    headers: { host: 'voice.example:8790', ...headers },
  })
  expect(isFromHere(request, names)).toBe(expected)
})
