import { expect, test } from 'bun:test'
import { momentMs } from './time.ts'

const nowMs = Date.UTC(2026, 10, 21, 12, 30)

test('a span counts from now, in the requested direction', () => {
  expect(momentMs('30d', nowMs, 1)).toBe(nowMs + 30 * 86_400_000)
  expect(momentMs('2w', nowMs, -1)).toBe(nowMs - 14 * 86_400_000)
  expect(momentMs(' 12h ', nowMs, -1)).toBe(nowMs - 12 * 3_600_000)
  expect(momentMs('90s', nowMs, 1)).toBe(nowMs + 90_000)
  expect(momentMs('5m', nowMs, 1)).toBe(nowMs + 300_000)
})

test('a date is itself, in UTC unless it says otherwise', () => {
  expect(momentMs('2030-01-31', nowMs, 1)).toBe(Date.UTC(2030, 0, 31))
  expect(momentMs('2030-01-31T10:00', nowMs, -1)).toBe(Date.UTC(2030, 0, 31, 10))
  expect(momentMs('2030-01-31T10:00:00Z', nowMs, 1)).toBe(Date.UTC(2030, 0, 31, 10))
  expect(momentMs('2030-01-31T10:00+02:00', nowMs, 1)).toBe(Date.UTC(2030, 0, 31, 8))
})

test('refuses everything else', () => {
  const wrong = ['', '30', 'd', '-3d', '1.5h', '3 d', '30days', 'tomorrow', '2030-1-31', '2030-02-30', '2030-13-01']
  for (const text of [...wrong, '2030-01-31T25:00', '9999999d', '01/31/2030']) {
    expect([text, momentMs(text, nowMs, 1)]).toEqual([text, null])
  }
})
