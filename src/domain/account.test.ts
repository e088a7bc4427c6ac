import { expect, test } from 'bun:test'
import { Seeded } from '../testing/seeded.ts'
import { displayPrefix, hashSecret, newSecret } from './account.ts'
import { countChars } from './charge.ts'
import { newId } from './id.ts'

test('a secret has 43 base-62 characters after its prefix, all of them in use', () => {
  const random = new Seeded(1)
  const secrets = Array.from({ length: 200 }, () => newSecret(random.fill))
  for (const secret of secrets) expect(secret).toMatch(/^sk-myna-[0-9A-Za-z]{43}$/)
  expect(new Set(secrets).size).toBe(200)
  expect(new Set(secrets.join('').slice(8)).size).toBeGreaterThanOrEqual(62)
})

test('the stored form of a secret shows only its prefix', () => {
  const secret = newSecret(new Seeded(2).fill)
  expect(displayPrefix(secret)).toBe(secret.slice(0, 12))
  expect(hashSecret(secret)).toMatch(/^[0-9a-f]{64}$/)
})

test('ids sort by age and never repeat', () => {
  const random = new Seeded(3)
  const ids = [0, 1, 1_000, 1_763_712_000_000].map((nowMs) => newId('op', nowMs, random.fill))
  expect([...ids].sort()).toEqual(ids)
  for (const id of ids) expect(id).toMatch(/^op_[0-9A-HJKMNP-TV-Z]{26}$/)
  const many = Array.from({ length: 1000 }, () => newId('req', 5, random.fill))
  expect(new Set(many).size).toBe(1000)
})

test('characters are code points', () => {
  expect(countChars('añ🎉')).toBe(3)
  expect(countChars('')).toBe(0)
})
