import { expect, test } from 'bun:test'
import { OwnNames } from '../own-names.ts'
import { isFromHere, setCookie, tokenOf } from './sessions.ts'

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

test.each(requests)('%s with %p counts as same-origin: %p', (method, headers, expected) => {
  const request = new Request('http://voice.example:8790/v1/me', {
    method,
    headers: { host: 'voice.example:8790', ...headers },
  })
  expect(isFromHere(request, names)).toBe(expected)
})
