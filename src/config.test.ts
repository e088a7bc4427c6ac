import { describe, expect, test } from 'bun:test'
import { ConfigError, loadConfig, settings } from './config.ts'

const modelMemory = (given: string) => loadConfig({}, { MYNA_MODEL_MEMORY: given }).modelMemoryBytes

test('a size is bytes, or a number with its unit', () => {
  const sizes = ['0', '1500000', '6GB', '1.5 gb', '512MiB', '2GiB', '700 kb'].map(modelMemory)
  expect(sizes).toEqual([0, 1_500_000, 6e9, 1.5e9, 2 ** 29, 2 ** 31, 700_000])
})

test.each(['much', '6 TB', '-1', '1e9', '6GBs', '6G B'])('%p is not a size', (given) => {
  expect(() => modelMemory(given)).toThrow(ConfigError)
})

test('an empty variable counts as missing', () => {
  const empty = Object.fromEntries(Object.values(settings).map(({ env }) => [env, '']))
  expect(loadConfig({}, empty)).toEqual(loadConfig({}, {}))
})

describe('an invalid value is refused with the allowed values', () => {
  const cases: [name: string, given: string, takes: string][] = [
    ['MYNA_PORT', '70000', 'a whole number from 0 to 65535'],
    ['MYNA_MAX_INPUT_CHARS', '4,096', 'a whole number from 1 to 10000000'],
    ['MYNA_REQUIRE_CONSENT', 'maybe', 'true or false'],
    ['MYNA_MODEL_MEMORY', 'lots', 'bytes, or a number with its unit, such as 6GB'],
    ['MYNA_LOG', 'loud', 'info, quiet, debug'],
    ['MYNA_VOICE_ALIASES', 'nova=slt,alloy', 'pairs NAME=VOICE_ID'],
    ['MYNA_TRUSTED_PROXIES', '10.0.0.1 proxy.example', 'IP addresses'],
    ['MYNA_CORS_ORIGINS', 'app.example.com', 'origins such as https://app.example.com, without a path, or *'],
    ['MYNA_CORS_ORIGINS', 'https://app.example.com/', 'origins such as https://app.example.com, without a path, or *'],
  ]
  test.each(cases)('%s=%s', (name, given, takes) => {
    expect(() => loadConfig({}, { [name]: given })).toThrow(new ConfigError(`${name}=${given}: must be ${takes}`))
  })
})

test('lists', () => {
  const { corsOrigins, trustedProxies, voiceAliases } = loadConfig(
    {},
    {
      MYNA_CORS_ORIGINS: 'https://app.example.com, http://localhost:3000',
      MYNA_TRUSTED_PROXIES: '10.0.0.1,::1',
      MYNA_VOICE_ALIASES: 'nova=slt onyx=voice_01K0',
    },
  )
  expect(corsOrigins).toEqual(['https://app.example.com', 'http://localhost:3000'])
  expect(trustedProxies).toEqual(['10.0.0.1', '::1'])
  expect(voiceAliases).toEqual(['nova=slt', 'onyx=voice_01K0'])
  expect(loadConfig({}, { MYNA_CORS_ORIGINS: '*' }).corsOrigins).toEqual(['*'])
})
