/** The graph that the executable carries speaks as the one that was fetched. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { cachedFile } from './cache.ts'
import { embeddedFiles, fetchFiles } from './fetch.ts'
import { carriedFile } from './optimised.ts'
import { withDurations } from '../src/models/hibari/graph-file.ts'
import { loadGraph } from '../src/models/hibari/graph.ts'

setDefaultTimeout(60_000)

const tableBytes = 4096
const symbols = ['hˈI.', 'ðə bˈɜɹʧ kənˈu slˈɪd ˌɔn ðə smˈuð plˈæŋks.', 'ʤˈɪn, ˈɛli ænd fɹˈɪts: wˈʌt ɐ kwˈɛsʧən!']

test('an optimised graph gives the same numbers to the bit, and is hardly larger', async () => {
  await fetchFiles()
  const file = await cachedFile(embeddedFiles.find(({ name }) => name === 'hibari.onnx')!)
  const carried = await carriedFile('hibari.onnx', file)
  expect(carried).not.toEqual(file)
  expect(carried.length).toBeLessThan(1.05 * file.length)
  const [given, optimised] = await Promise.all([
    loadGraph({ model: withDurations(file), isOptimised: false }, 2),
    loadGraph({ model: carried, isOptimised: true }, 2),
  ])
  for (const [at, text] of symbols.entries()) {
    const speed = 1 + at / 4
    expect(await optimised.predict(text, speed)).toEqual(await given.predict(text, speed))
  }
  await Promise.all([given.release(), optimised.release()])
})

// ONNX Runtime writes the table of the operators first, in an order that depends on where its memory happens to be.
// Its names have different lengths, so the padding between them differs too: three files of sixty are 8 bytes longer.
test('two builds carry the same bytes behind the table of operators', async () => {
  const file = await cachedFile(embeddedFiles.find(({ name }) => name === 'hibari.onnx')!)
  const [one, other] = await Promise.all([carriedFile('hibari.onnx', file), carriedFile('hibari.onnx', file)])
  const behindTable = Math.min(one.length, other.length) - tableBytes
  expect(behindTable).toBeGreaterThan(0.99 * file.length)
  expect(Buffer.compare(one.subarray(-behindTable), other.subarray(-behindTable))).toBe(0)
})

test('other files are carried as they are', async () => {
  const file = Uint8Array.of(1, 2, 3)
  expect(await carriedFile('tokenizer.bin', file)).toBe(file)
})
