import { expect, test } from 'bun:test'
import { childEnv, ConfigError, hubEnv, loadConfig } from './config.ts'

const modelMemory = (given: string) => loadConfig({}, { MYNA_MODEL_MEMORY: given }).modelMemoryBytes

test('a size is bytes, or a number with its unit', () => {
  const sizes = ['0', '1500000', '6GB', '1.5 gb', '512MiB', '2GiB', '700 kb'].map(modelMemory)
  expect(sizes).toEqual([0, 1_500_000, 6e9, 1.5e9, 2 ** 29, 2 ** 31, 700_000])
})

test.each(['', 'much', '6 TB', '-1', '1e9', '6GBs', '6G B'])('%p is no size', (given) => {
  expect(() => modelMemory(given)).toThrow(ConfigError)
})

test('the hub is known under the names that everybody uses, and children get nobody’s keys', () => {
  expect(hubEnv({})).toEqual({ endpoint: null, token: null })
  expect(hubEnv({ HF_ENDPOINT: '', HF_TOKEN: '\n' })).toEqual({ endpoint: null, token: null })
  const env = { HF_ENDPOINT: 'https://hub.example', HF_TOKEN: ' hf_x\n', MYNA_API_KEY: 'sk-x', PATH: '/bin' }
  expect(hubEnv(env)).toEqual({ endpoint: 'https://hub.example', token: 'hf_x' })
  const { HF_TOKEN, MYNA_API_KEY, PATH } = childEnv(env)
  expect([HF_TOKEN, MYNA_API_KEY, PATH]).toEqual([undefined, undefined, '/bin'])
})
