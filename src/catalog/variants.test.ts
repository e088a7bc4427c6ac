import { expect, test } from 'bun:test'
import { resolveVariants } from './variants.ts'

const base = {
  id: 'base',
  name: 'Base',
  downloads: [
    { repo: 'a/b', revision: 'main', files: [{ path: 'big/model.onnx', name: 'model.onnx' }, { path: 'voice.bin' }] },
  ],
}

test('a variant inherits what it does not set', () => {
  const { 'v.json': variant } = resolveVariants({ 'b.json': base, 'v.json': { extends: 'base', id: 'v' } })
  expect(variant).toEqual({ ...base, id: 'v' })
})

test('a file replaces the inherited file of the same name, whatever its path', () => {
  const small = { repo: 'a/b', revision: 'main', files: [{ path: 'small/model.onnx', name: 'model.onnx' }] }
  const { 'v.json': variant } = resolveVariants({
    'v.json': { extends: 'base', id: 'v', downloads: [small] },
    'b.json': base,
  })
  expect(variant).toEqual({
    ...base,
    id: 'v',
    downloads: [{ repo: 'a/b', revision: 'main', files: [{ path: 'voice.bin' }] }, small],
  })
})

test('a variant can only extend a card that exists and is not a variant', () => {
  const orphan = { extends: 'nobody', id: 'v' }
  const middle = { extends: 'base', id: 'middle' }
  expect(() => resolveVariants({ 'v.json': orphan })).toThrow('v.json: extends: expected a card that extends none')
  expect(() => resolveVariants({ 'b.json': base, 'm.json': middle, 'v.json': { extends: 'middle', id: 'v' } })).toThrow(
    'found "middle"',
  )
})
