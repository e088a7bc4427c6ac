/** Rewritten graphs that are kept beside their file: made once, made again when they must be, and never in the way. */
import { afterAll, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { onnxModel } from '../testing/tiny-onnx.ts'
import { openRewritten, type Rewrite } from './prepared.ts'
import { inRows } from './rewrite/row-products.ts'
import type { Session } from './session.ts'

const opened: Session[] = []
afterAll(async () => {
  for (const session of opened) await session.release()
})

const width = 64
let folder = ''
let source = ''
let rewrites = 0
beforeEach(() => {
  folder = temporaryFolder()
  source = join(folder, 'small.onnx')
  rewrites = 0
  writeFileSync(source, product(2))
})

/** Gives what it is given times the factor. */
function product(factor: number): Uint8Array {
  const data = Float32Array.from({ length: width * width }, (_, at) => (at % (width + 1) === 0 ? factor : 0))
  const port = (name: string) => ({ name, type: 'float32', dims: [1, 'rows', width] }) as const
  return onnxModel({
    name: 'product',
    nodes: [{ op: 'MatMul', inputs: ['given', 'weights'], outputs: ['result'] }],
    inputs: [port('given')],
    outputs: [port('result')],
    constants: [{ name: 'weights', type: 'float32', dims: [width, width], data }],
  })
}

const rewrite: Rewrite<{ says: string }> = (model, made) => {
  rewrites++
  return { graphs: { small: inRows(model, made) }, notes: { says: 'so' } }
}

async function open(form = 'first') {
  const found = await openRewritten(source, form, rewrite, { threads: 1 })
  if (found !== null) opened.push(...Object.values(found.sessions))
  return found
}

/** What the graph gives for a row of ones. */
async function resultOf(found: Awaited<ReturnType<typeof open>>): Promise<number> {
  const given = { type: 'float32', dims: [1, 1, width], data: new Float32Array(width).fill(1) } as const
  const { result } = await found!.sessions['small']!.run({ given })
  return Number(result!.data[0])
}

const keptFolders = () => readdirSync(join(folder, 'prepared'))
const keptFile = (name: string) => join(folder, 'prepared', keptFolders()[0]!, name)

test('is made once, and its notes are kept with it', async () => {
  for (let time = 0; time < 3; time++) {
    const found = await open()
    expect(await resultOf(found)).toBeCloseTo(2, 3)
    expect(found?.notes).toEqual({ says: 'so' })
  }
  expect([rewrites, keptFolders().length]).toEqual([1, 1])
  expect(statSync(keptFile('weights.bin')).size).toBeLessThan(statSync(source).size / 2)
})

test('is made again in another form, or of another file, and takes the place of the old one', async () => {
  await open()
  await open('second')
  expect([rewrites, keptFolders().length]).toEqual([2, 1])
  writeFileSync(source, product(3))
  utimesSync(source, 1, 1)
  expect(await resultOf(await open('second'))).toBeCloseTo(3, 3)
  expect([rewrites, keptFolders().length]).toEqual([3, 1])
})

test.each([
  ['the weights are cut off', () => truncateSync(keptFile('weights.bin'), 100)],
  ['the graph is cut off', () => truncateSync(keptFile('small.onnx'), 20)],
  ['the notes are cut off', () => truncateSync(keptFile('prepared.json'), 5)],
  ['the weights are gone', () => rmSync(keptFile('weights.bin'))],
  ['the notes are gone', () => rmSync(keptFile('prepared.json'))],
])('is made again where %s', async (_, damage) => {
  await open()
  damage()
  expect(await resultOf(await open())).toBeCloseTo(2, 3)
  expect(rewrites).toBe(2)
  expect(await resultOf(await open())).toBeCloseTo(2, 3)
  expect(rewrites).toBe(2)
})

test('is made in memory where nothing can be written', async () => {
  // Root may write into any folder, so a file takes the place of this one.
  writeFileSync(join(folder, 'prepared'), '')
  for (let time = 0; time < 2; time++) expect(await resultOf(await open())).toBeCloseTo(2, 3)
  expect(rewrites).toBe(2)
})

const canMount = Bun.which('unshare') !== null && Bun.spawnSync(['unshare', '-rm', 'true']).success

// Needs the right to mount: the disk is one of its own, which disappears with the process.
test.skipIf(!canMount).each([
  [90, []],
  [120, ['prepared.json', 'small.onnx', 'weights.bin']],
])('on a disk with %d MB free, what is kept is %j: 100 MB stay free', (megabytes, kept) => {
  const script = 'mount -t tmpfs -o size=$1m tmpfs "$2" && cp "$3" "$2/small.onnx" && shift 3 && exec "$@"'
  const disk = temporaryFolder()
  const child = [process.execPath, join(import.meta.dir, 'prepared-child.fixture.ts'), join(disk, 'small.onnx')]
  const given = [String(megabytes), disk, source, ...child]
  const { stdout, stderr } = Bun.spawnSync(['unshare', '-rm', 'bash', '-c', script, 'bash', ...given])
  expect(JSON.parse(stdout.toString())).toEqual({ isOpen: true, kept })
  expect(stderr.toString()).toBe(
    kept.length > 0 ? '' : 'the faster form of small.onnx is not kept, so that 100 MB of the disk stay free\n',
  )
})

test('what a killed process has left is removed an hour later', async () => {
  const left = ['.new-old', '.new-young'].map((name) => join(folder, 'prepared', name))
  for (const path of left) mkdirSync(path, { recursive: true })
  const longAgoS = Date.now() / 1000 - 7200
  utimesSync(left[0]!, longAgoS, longAgoS)
  await open()
  expect(left.map((path) => existsSync(path))).toEqual([false, true])
})

test('two at the same moment both get it, and one folder is left', async () => {
  const both = await Promise.all([open(), open()])
  for (const found of both) expect(await resultOf(found)).toBeCloseTo(2, 3)
  expect(keptFolders().length).toBe(1)
})

test('a file that is missing, empty, no model, or not to be rewritten leaves nothing', async () => {
  rmSync(source)
  expect(await open()).toBeNull()
  for (const content of [new Uint8Array(0), new TextEncoder().encode('This is a text, and no protobuf.')]) {
    writeFileSync(source, content)
    expect(await open()).toBeNull()
  }
  writeFileSync(source, product(2))
  expect(await openRewritten(source, 'first', () => null, { threads: 1 })).toBeNull()
  expect(keptFolders()).toEqual([])
})
