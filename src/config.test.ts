import { expect, test } from 'bun:test'
import { ConfigError, loadConfig } from './config.ts'

const modelMemory = (given: string) => loadConfig({}, { MYNA_MODEL_MEMORY: given }).modelMemoryBytes

test('a size is bytes, or a number with its unit', () => {
  const sizes = ['0', '1500000', '6GB', '1.5 gb', '512MiB', '2GiB', '700 kb'].map(modelMemory)
  expect(sizes).toEqual([0, 1_500_000, 6e9, 1.5e9, 2 ** 29, 2 ** 31, 700_000])
})

test.each(['', 'much', '6 TB', '-1', '1e9', '6GBs', '6G B'])('%p is no size', (given) => {
  expect(() => modelMemory(given)).toThrow(ConfigError)
})
