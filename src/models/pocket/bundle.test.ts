import { expect, test } from 'bun:test'
import { gunzipSync } from 'node:zlib'
import { readBundle } from './bundle.ts'
import { bytesOf, golden } from './small.fixture.ts'

const whole = JSON.parse(new TextDecoder().decode(bytesOf(golden.files['bundle.json']!)))
const reading = (changes: object) => () => readBundle(JSON.stringify({ ...whole, ...changes }))

test('reads what the exporter writes', () => {
  const { flowStates, mimiStates, ...rest } = reading({})()
  expect(rest).toEqual({
    name: 'small',
    sampleRateHz: 24_000,
    samplesPerFrame: 1920,
    framesPerS: 12.5,
    latentDim: 4,
    conditioningDim: 16,
    maxTokens: 50,
    preparation: { padShortInputs: false, removeSemicolons: false },
    framesAfterEos: null,
    bosBeforeVoice: true,
    capacity: 160,
  })
  expect(flowStates.slice(0, 3)).toEqual([
    {
      input: 'state_0',
      output: 'out_state_0',
      module: 'transformer.layers.0.self_attn',
      key: 'cache',
      dims: [2, 1, 160, 2, 8],
      type: 'float32',
      fill: 'nan',
    },
    {
      input: 'state_1',
      output: 'out_state_1',
      module: 'transformer.layers.0.self_attn',
      key: 'current_end',
      dims: [0],
      type: 'float32',
      fill: 'zeros',
    },
    {
      input: 'state_2',
      output: 'out_state_2',
      module: 'transformer.layers.0.self_attn',
      key: 'step',
      dims: [1],
      type: 'int64',
      fill: 'zeros',
    },
  ])
  // As in the published exports: the encoder's states pass through the decoder.
  expect(mimiStates.length).toBe(56)
  expect(mimiStates.filter(({ type }) => type === 'bool').every(({ fill }) => fill === 'ones')).toBe(true)
  expect(mimiStates.some(({ dims }) => dims.includes(0))).toBe(true)
})

test('reads the published bundle.json of english_2026-04', async () => {
  // Written by scripts/golden/pocket.py from the shapes of the model, and still identical to the published file.
  const file = gunzipSync(await Bun.file(`${import.meta.dir}/bundle.golden.json.gz`).bytes())
  const published = 'bab643150f437f37df080a710520ff39ed9ebd9a339f8ebdc739f7eddfc28b3f'
  expect(new Bun.CryptoHasher('sha256').update(file).digest('hex')).toBe(published)
  const { flowStates, mimiStates, ...rest } = readBundle(file.toString())
  expect(rest).toMatchObject({ latentDim: 32, conditioningDim: 1024, maxTokens: 50, capacity: 1000 })
  expect([flowStates.length, mimiStates.length]).toEqual([18, 56])
})

test('reads the recommended number of frames after the end', () => {
  expect(reading({ model_recommended_frames_after_eos: 8 })().framesAfterEos).toBe(8)
})

const [cache, ...others] = whole.flow_lm_state_manifest
const withCache = (changes: object) => ({ flow_lm_state_manifest: [{ ...cache, ...changes }, ...others] })
const wrong: [string, object, string][] = [
  ['a later schema', { schema_version: 3 }, 'schema_version is 3; only 2 is supported'],
  ['no name', { bundle_name: '' }, 'bundle_name is not a text'],
  ['a rate in words', { sample_rate: '24000' }, 'sample_rate is not a number from 8000 to 192000'],
  ['frames of another length', { samples_per_frame: 960 }, 'samples_per_frame is not sample_rate / frame_rate'],
  ['chunks without room', { max_token_per_chunk: 4 }, 'max_token_per_chunk is not a number from 16 to 160'],
  ['no flag', { remove_semicolons: undefined }, 'remove_semicolons is not true or false'],
  ['no frames after the end', { model_recommended_frames_after_eos: 0 }, 'from 1 to 100'],
  ['no states', { mimi_state_manifest: [] }, 'mimi_state_manifest is not a list of states'],
  ['states without a cache', { flow_lm_state_manifest: others.slice(0, 2) }, 'has no cache'],
  ['a state of half floats', withCache({ dtype: 'float16' }), 'flow_lm_state_manifest[0] is not a state'],
  ['mixed numbers', withCache({ fill: 'mixed' }), 'flow_lm_state_manifest[0] is not a state'],
  ['a negative length', withCache({ shape: [2, 1, -1, 2, 8] }), 'flow_lm_state_manifest[0] is not a state'],
  ['a cache that says it is empty', withCache({ fill: 'empty' }), 'flow_lm_state_manifest[0] is not a state'],
  ['two states of one name', withCache({ input_name: 'state_1' }), 'states with different names'],
]

test.each(wrong)('refuses %s and names file and field', (_, changes, message) => {
  expect(reading(changes)).toThrow(message)
  expect(reading(changes)).toThrow('bundle.json')
})

test('refuses a file that is not a JSON object', () => {
  for (const text of ['', '[', 'null', '"a"', '<html>']) {
    expect(() => readBundle(text)).toThrow('bundle.json is not a JSON object')
  }
})
