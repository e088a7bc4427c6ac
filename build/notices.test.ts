/** The contents of the executable may be distributed with it. */
import { expect, test } from 'bun:test'
import { type BundledPackage, bundledPackages, carriedParts, notices, objection } from './notices.ts'

const packages = await bundledPackages()

test('the packages are those of the bundle, including native ones, and without those that only tests need', () => {
  const names = packages.map(({ name }) => name)
  expect(names).toContain('commander')
  expect(names).toContain('@img/sharp-libvips-linux-x64')
  for (const absent of ['openai', 'onnxruntime-node', 'typescript', 'bun-types', 'global-agent'])
    expect(names).not.toContain(absent)
})

test('every package in the executable has a licence that allows it, and its text', () => {
  expect(packages.map(objection).filter((reason) => reason !== null)).toEqual([])
})

test.each([
  ['GPL-2.0-only', 'text', 'p is under "GPL-2.0-only"'],
  ['AGPL-3.0-or-later', 'text', 'p is under "AGPL-3.0-or-later"'],
  ['MIT AND GPL-3.0-only', 'text', 'p is under "MIT AND GPL-3.0-only"'],
  ['', 'text', 'p is under ""'],
  ['MIT', null, 'p has no licence text'],
  ['(MIT OR GPL-3.0-only)', 'text', null],
])('licence %p, file %p: %p', (license, text, expected) => {
  const texts = text === null ? [] : [{ file: 'LICENSE', text }]
  expect(objection({ name: 'p', version: '1', license, texts, inside: [] })).toBe(expected)
})

test('components inside a package are checked too', () => {
  const component = { name: 'c', license: 'GPL-2.0-only', source: '', copyright: '' }
  const bundled: BundledPackage = {
    name: 'p',
    version: '1',
    license: 'MIT',
    texts: [{ file: 'LICENSE', text: 'x' }],
    inside: [component],
  }
  expect(objection(bundled)).toBe('p is under "GPL-2.0-only"')
})

test('every model and library that comes from the Python index has terms that allow it', () => {
  expect(carriedParts().map(({ package: name }) => name)).toContain('hibari-tts')
})

test('the notices name every author, explain how to replace libvips, and contain the texts', async () => {
  const text = await notices()
  for (const { name, version } of packages) expect(text).toContain(`\n${name} ${version} (`)
  for (const part of [
    'JavaScriptCore',
    'librsvg',
    '.complete',
    'GNU LESSER GENERAL PUBLIC LICENSE',
    'Apache License',
    'ONNX Runtime (libonnxruntime) (library, onnxruntime 1.32.0)',
    'libopus (library, av 19.0.2)',
    'hibari (model, hibari-tts 0.2.1)',
    'distilled from Kokoro-82M (voice af_heart)',
    'CMU Pronouncing Dictionary',
    'THIS SOFTWARE IS PROVIDED BY CARNEGIE MELLON UNIVERSITY',
  ]) {
    expect(text).toContain(part)
  }
})
