import { afterAll, expect, test } from 'bun:test'
import { onnxModel, type GraphSpec, type TensorSpec } from '../testing/tiny-onnx.ts'
import { checkContract, numbered, type PortSpec } from './contract.ts'
import { createSession } from './back-end.ts'

const inputs: readonly TensorSpec[] = [
  { name: 'tokens', type: 'int64', dims: [1, 'length'] },
  { name: 'style', type: 'float16', dims: [1, 256] },
  { name: 'flag', type: 'bool', dims: [] },
  { name: 'state_0', type: 'float32', dims: [2, '', 0] },
  { name: 'state_1', type: 'float32', dims: [2, '', 0] },
]
const graph: GraphSpec = {
  name: 'echo',
  nodes: inputs.map(({ name }) => ({ op: 'Identity', inputs: [name], outputs: [`${name}_out`] })),
  inputs,
  outputs: inputs.map((spec) => ({ ...spec, name: `${spec.name}_out` })),
}
const session = await createSession(onnxModel(graph), { threads: 1 })
afterAll(() => session.release())

const states = numbered(2, 'state_*', { type: 'float32', dims: [2, null, 0] })
const expected: readonly PortSpec[] = [
  { name: 'tokens', type: ['int32', 'int64'], dims: [1, null] },
  { name: 'style', type: 'float16', dims: [1, 256] },
  { name: 'flag', type: 'bool', dims: [] },
  ...states,
]
/** The expected inputs, with one of them changed. */
const but = (name: string, change: Partial<PortSpec>) =>
  expected.map((spec) => (spec.name === name ? { ...spec, ...change } : spec))
const complaint = (given: readonly PortSpec[], outputs: readonly PortSpec[] = []): string => {
  try {
    checkContract('echo.onnx', session, { inputs: given, outputs })
    return 'none'
  } catch (error) {
    return String(error)
  }
}

test('accepts a graph that fits, even with more outputs than needed', () => {
  expect(states.map(({ name }) => name)).toEqual(['state_0', 'state_1'])
  expect(complaint(expected, [{ name: 'style_out', type: 'float16', dims: [null, 256] }])).toBe('none')
})

test('a length known only at run time fits every number; missing dims fit every rank', () => {
  expect(complaint(but('tokens', { dims: [1, 7] }))).toBe('none')
  expect(complaint(but('style', { dims: null }))).toBe('none')
})

test.each<[string, Partial<PortSpec>, string]>([
  ['style', { type: 'float32' }, 'input style is float16 [1, 256], but float32 [1, 256] is expected'],
  ['style', { dims: [1, 128] }, 'input style is float16 [1, 256], but float16 [1, 128] is expected'],
  ['flag', { dims: [1] }, 'input flag is bool [], but bool [1] is expected'],
  ['state_1', { dims: [2, 0] }, 'input state_1 is float32 [2, ?, 0], but float32 [2, 0] is expected'],
  [
    'tokens',
    { type: ['uint8', 'bool'], dims: null },
    'input tokens is int64 [1, length], but uint8 or bool of any shape is expected',
  ],
])('reports the difference: %s %j', (name, change, words) => {
  expect(complaint(but(name, change))).toBe(`Error: echo.onnx is not the graph this model needs: ${words}`)
})

test('reports missing inputs and unknown inputs together', () => {
  const given = [...expected.slice(1), { name: 'speed', type: 'float32', dims: [1] }]
  expect(complaint(given, [{ name: 'audio', type: 'float32', dims: [null] }])).toBe(
    'Error: echo.onnx is not the graph this model needs: no input speed float32 [1]; ' +
      'no output audio float32 [?]; unknown input tokens int64 [1, length]',
  )
})

test('reports an entirely different graph briefly', () => {
  const words = complaint(numbered(9, 'past_key_values.*.decoder.key', { type: 'float32', dims: null }))
  expect(words).toContain('past_key_values.5.decoder.key')
  expect(words).toEndWith('; and 8 more')
})
