/** The encoders' WebAssembly is found in what their packages really contain. */
import { expect, test } from 'bun:test'
import { join, resolve } from 'node:path'
import { webAssemblyOf } from './assets.ts'

const modules = join(resolve(import.meta.dir, '..'), 'node_modules')

test.each([
  '@mediabunny/aac-encoder/dist/modules/build/aac.js',
  '@mediabunny/flac-encoder/dist/modules/build/flac.js',
  'libopus-wasm/dist/generated/libopus.generated.mjs',
])('%s: what is found is a whole module, and nothing but a call is taken out', async (path) => {
  const program = await Bun.file(join(modules, path)).text()
  const { from, to, bytes } = webAssemblyOf(path, program)
  expect(WebAssembly.validate(bytes)).toBe(true)
  expect(program.slice(from).startsWith('binaryDecode(')).toBe(true)
  expect(program[to - 1]).toBe(')')
  expect(program.length - (to - from)).toBeLessThan(20_000)
})

test.each([
  ['none', 'const binary = fetch("encoder.wasm")'],
  ['one that is no WebAssembly', 'binaryDecode("encoder")'],
  ['two', 'binaryDecode("\\0asm\\x01\\0\\0\\0"); binaryDecode("\\0asm\\x01\\0\\0\\0")'],
])('%s ends the build', (_, program) => {
  expect(() => webAssemblyOf('x.js', program)).toThrow('x.js carries its WebAssembly in a new way')
})

test('256 stands for 0', () => {
  const program = 'binaryDecode("\\u0100asm\\x01\\u0100\\u0100\\u0100")'
  expect([...webAssemblyOf('x.js', program).bytes]).toEqual([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])
})
