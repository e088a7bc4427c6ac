import { describe, expect, test } from 'bun:test'
import { MynaError } from './error.ts'
import { fingerprint, parseIdempotencyKey, refuseReuse } from './idempotency.ts'

const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1')

describe('which header values are keys', () => {
  test('a missing header means no key', () => expect(parseIdempotencyKey(null)).toBeNull())
  test.each(['a', 'x'.repeat(128), '"quoted"', 'ключ', 'é'.repeat(64), 'a b', 'a,b'])('%p is a key', (key) => {
    expect(parseIdempotencyKey(latin1(key))).toBe(key)
  })
  test('blanks around a key are not part of it', () => expect(parseIdempotencyKey(' \tabc \t')).toBe('abc'))
  test.each([
    ['empty', ''],
    ['blank', '   '],
    ['129 bytes', 'x'.repeat(129)],
    ['65 two-byte characters', latin1('é'.repeat(65))],
    ['control character', 'a\u0001b'],
    ['delete', 'a\u007f'],
    ['C1 control', latin1('a\u0085b')],
    ['not UTF-8', 'a\u00ff'],
    ['cut UTF-8', latin1('é').slice(0, 1)],
    ['sent twice', 'a, b'],
  ])('%s is refused', (_, header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(MynaError)
  })
})

const fields = {
  model: null,
  input: 'hello',
  voice: 'lark',
  responseFormat: 'mp3',
  speed: 1,
  instructions: null,
  streamFormat: 'audio',
  language: null,
  seed: null,
  sampleRateHz: 24000,
}

test('every known field is part of the fingerprint', () => {
  const base = fingerprint(fields)
  expect(fingerprint({ ...fields })).toBe(base)
  const changed = { model: 'hibari', input: 'hullo', voice: null, responseFormat: 'wav', speed: 1.1, instructions: 'x' }
  const more = { streamFormat: 'sse', language: 'en', seed: 1, sampleRateHz: 8000 }
  for (const [name, value] of Object.entries({ ...changed, ...more })) {
    expect(fingerprint({ ...fields, [name]: value })).not.toBe(base)
  }
})

test('a found record is a duplicate if the fields are equal or not compared, otherwise a conflict', () => {
  const existing = { id: 'op_1', outcome: null, fingerprint: 'f' }
  expect(refuseReuse(existing, 'f').code).toBe('duplicate_request')
  expect(refuseReuse(existing, null).code).toBe('duplicate_request')
  expect(refuseReuse(existing, 'g').code).toBe('idempotency_conflict')
  expect(refuseReuse(existing, 'f').extras).toEqual({ operation_id: 'op_1', state: 'pending', outcome: null })
  const completed = { ...existing, outcome: 'completed' as const }
  expect(refuseReuse(completed, 'f').extras).toMatchObject({ state: 'terminal', outcome: 'completed' })
})
