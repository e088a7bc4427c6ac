import { expect, test } from 'bun:test'
import { FailedModels } from './failed-models.ts'

test('a failure is reported once, and remembered until the model loads or its files change', () => {
  const failed = new FailedModels()
  expect(failed.note('a', 'no graph')).toBe(true)
  expect(failed.note('a', 'no graph')).toBe(false)
  expect(failed.note('a', 'no memory')).toBe(true)
  expect(failed.note('b', 'no graph')).toBe(true)
  expect(failed.list()).toEqual([
    { id: 'a', reason: 'no memory' },
    { id: 'b', reason: 'no graph' },
  ])
  expect(failed.note('a', null)).toBe(false)
  failed.forget('b')
  expect(failed.list()).toEqual([])
  expect(failed.note('b', 'no graph')).toBe(true)
})
