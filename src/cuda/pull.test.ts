import { afterEach, beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Hub } from '../catalog/install/hub.ts'
import { zipOf } from '../testing/archives.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { randomBytes, sha256Of } from '../testing/hub.ts'
import { deadlineMs } from '../testing/impatient-timer.ts'
import { Seeded } from '../testing/seeded.ts'
import { never } from '../testing/test-model.ts'
import { pullCuda, type PullParts } from './bring.ts'
import { cudaRuntime, placeOf, runtimeFolder } from './installed.ts'
import { cudaBuild } from './library.fixture.ts'
import { type TestParts, testParts } from './parts.fixture.ts'
import { type CudaRelease, cudaRelease } from './release.ts'

const made = cudaBuild()

/** Besides the libraries, a file that is long enough to be cut. */
function archive(name: string, seed: number, files: ReadonlyMap<string, Uint8Array>) {
  const filler = { name: `${name}/filler.bin`, content: randomBytes(seed, 400_000), isCompressed: false }
  const content = zipOf([
    filler,
    ...[...files].map(([file, bytes]) => ({ name: `${name}/lib/${file}`, content: bytes })),
  ])
  const path = `packages/ab/${name}.whl`
  const facts = { name: `${name} 1.0`, path, sizeBytes: content.length, sha256: sha256Of(content) }
  return { content, facts: { ...facts, unpackedBytes: 50_000 } }
}

const archives = [archive('onnx', 1, made.onnxRuntime), archive('nvidia', 2, made.nvidia)]
const release: CudaRelease = { ...cudaRelease, id: 'test-1', archives: archives.map(({ facts }) => facts) }

interface Asked {
  path: string
  range: string | null
}

let asked: Asked[]
/** How a request goes wrong; null: it succeeds. */
let trouble: (request: Asked) => Response | 'cut' | 'corrupt' | null
let server: ReturnType<typeof Bun.serve>
let dataDir: string
let parts: PullParts & TestParts

function answer(request: Request): Response {
  const one = { path: new URL(request.url).pathname.slice(1), range: request.headers.get('range') }
  asked.push(one)
  const wrong = trouble(one)
  if (wrong instanceof Response) return wrong
  const found = archives.find(({ facts }) => `mirror/${facts.path}` === one.path)
  if (found === undefined) return new Response('Not Found', { status: 404 })
  const from = Number(/^bytes=(\d+)-$/.exec(one.range ?? '')?.[1] ?? 0)
  const rest = Buffer.from(found.content.subarray(from))
  if (wrong === 'corrupt') rest[rest.length - 1] = (rest.at(-1) ?? 0) ^ 1
  const total = found.content.length
  const headers = { 'content-range': `bytes ${from}-${total - 1}/${total}`, 'content-length': String(rest.length) }
  const status = one.range === null ? 200 : 206
  return new Response(wrong === 'cut' ? half(rest) : rest, { status, ...(status === 206 && { headers }) })
}

/** Sends half and ends. */
const half = (bytes: Buffer): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      controller.enqueue(bytes.subarray(0, bytes.length / 2))
      controller.close()
    },
  })

beforeEach(() => {
  asked = []
  trouble = () => null
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: answer, error: () => new Response('', { status: 500 }) })
  dataDir = temporaryFolder()
  const own = testParts(dataDir)
  const paths = new Map(release.archives.map(({ path }) => [path.slice(path.lastIndexOf('/') + 1), path]))
  const hub = new Hub({
    endpoint: `http://127.0.0.1:${server.port}/mirror`,
    pathOf: ({ path }) => paths.get(path) ?? path,
    token: null,
    timer: own.timer,
    answerMs: deadlineMs,
    userAgent: 'myna/test',
  })
  parts = { ...own, hub, random: new Seeded(1).fill, stallMs: deadlineMs }
})
afterEach(() => server.stop(true))

const pull = () => pullCuda(release, parts, never)
const blobs = () => readdirSync(join(dataDir, 'runtime/blobs'))
const refusal = () =>
  pull().then(
    () => null,
    (error: unknown) => ({ code: (error as { code?: string }).code, message: (error as Error).message }),
  )

test('everything is fetched once from the mirror and unpacked, and the downloads are removed', async () => {
  const { manifest, path, wasWhole } = await pull()
  expect(wasWhole).toBe(false)
  expect(path).toBe(placeOf(runtimeFolder(dataDir)))
  expect(manifest).toMatchObject({ release: 'test-1', onnxRuntime: '1.30.0', cudaMajor: 13, system: [] })
  expect(new Set(manifest.files.map(({ evidence, origin }) => `${evidence} ${origin}`))).toEqual(
    new Set(['pinned onnx 1.0', 'pinned nvidia 1.0']),
  )
  expect(asked.map((one) => one.path).sort()).toEqual(['mirror/packages/ab/nvidia.whl', 'mirror/packages/ab/onnx.whl'])
  expect(blobs()).toEqual([])
  expect(cudaRuntime(dataDir, '1.30.0')).toMatchObject({ dir: path })
  expect(await pull()).toEqual({ manifest, path, wasWhole: true })
  expect(asked).toHaveLength(2)
})

test('a download that ended early resumes where it stopped', async () => {
  trouble = ({ path, range }) => (path.endsWith('onnx.whl') && range === null ? 'cut' : null)
  await pull()
  const ranges = asked.filter(({ path }) => path.endsWith('onnx.whl')).map(({ range }) => range)
  expect(ranges).toEqual([null, expect.stringMatching(/^bytes=[1-9]\d*-$/)])
})

test('the next pull uses what an interrupted pull left', async () => {
  trouble = ({ path }) => (path.endsWith('onnx.whl') ? new Response('', { status: 503 }) : null)
  expect(await refusal()).toMatchObject({ code: 'no_hub', message: expect.stringContaining('has a problem') })
  expect(existsSync(placeOf(runtimeFolder(dataDir)))).toBe(false)
  expect(blobs().sort()).toContain(release.archives[1]?.sha256 ?? '')
  trouble = () => null
  asked = []
  await pull()
  expect(asked.map(({ path }) => path)).toEqual(['mirror/packages/ab/onnx.whl'])
})

test('content that differs from the pinned content is never installed', async () => {
  trouble = () => 'corrupt'
  expect(await refusal()).toMatchObject({
    code: 'other_content',
    message: expect.stringMatching(/(onnx|nvidia)\.whl of \w+ 1\.0 \(downloaded twice\): its SHA-256 is /),
  })
  expect(existsSync(placeOf(runtimeFolder(dataDir)))).toBe(false)
})

test('too little space is explained before anything is asked for', async () => {
  parts = { ...parts, freeBytes: () => 100_850_000 }
  expect(await refusal()).toEqual({
    code: 'disk_full',
    message: expect.stringMatching(/^There is not enough disk space: 1 MB will be written to .* 101 MB are free\.$/),
  })
  expect(asked).toEqual([])
})

test('a mirror without the file and a login page are each explained', async () => {
  trouble = () => new Response('gone', { status: 404 })
  expect(await refusal()).toEqual({
    code: 'not_on_hub',
    message: expect.stringMatching(
      /^127\.0\.0\.1:\d+ does not serve (onnx|nvidia)\.whl \(404\)\. Is the mirror complete/,
    ),
  })
  trouble = () => new Response('<html>', { headers: { 'content-type': 'text/html' } })
  expect(await refusal()).toMatchObject({ code: 'no_file_came' })
})

test('a driver that is too old is reported before the download starts', async () => {
  parts = { ...parts, driver: '470.256.02' }
  expect(await refusal()).toEqual({
    code: 'old_driver',
    message:
      'The NVIDIA driver here is 470.256.02, and CUDA 13 needs 580 or newer. Update the driver. Use --force to ' +
      'install it anyway.',
  })
  expect(asked).toEqual([])
})

test('repairs files that were damaged later, in their size or in one byte', async () => {
  const { manifest, path } = await pull()
  const library = join(path, 'libcublas.so.13')
  const whole = statSync(library).size
  truncateSync(library, whole - 1)
  expect(cudaRuntime(dataDir, '1.30.0')).toEqual({
    missing:
      `the CUDA build of ONNX Runtime is damaged (libcublas.so.13 has ${whole - 1} bytes instead of ${whole}): ` +
      'myna runtime pull cuda mends it',
  })
  expect(await pull()).toMatchObject({ wasWhole: false })
  writeFileSync(library, Buffer.alloc(whole, 1))
  expect(await pull()).toMatchObject({ wasWhole: false, manifest: { files: manifest.files } })
  rmSync(library)
  expect(cudaRuntime(dataDir, '1.30.0')).toMatchObject({
    missing: expect.stringContaining('libcublas.so.13 is missing'),
  })
})

test('refuses a runtime of another release', async () => {
  await pull()
  expect(cudaRuntime(dataDir, '1.31.0')).toEqual({
    missing:
      'the installed CUDA build is of ONNX Runtime 1.30.0, and this program needs 1.31.0: myna runtime pull cuda ' +
      'brings the right one',
  })
  expect(cudaRuntime(temporaryFolder(), '1.30.0')).toEqual({
    missing: 'the CUDA build of ONNX Runtime is not installed: myna runtime pull cuda brings it',
  })
})

test('the pinned release names every archive completely, and only hosts that exist', () => {
  for (const { name, path, sizeBytes, sha256, unpackedBytes } of cudaRelease.archives) {
    expect(path).toMatch(/^packages\/[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f]{60}\/[\w.-]+\.whl$/)
    expect(sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(sizeBytes).toBeGreaterThan(1_000_000)
    expect(unpackedBytes).toBeGreaterThan(500_000)
    const [package_ = '', version = ''] = name.split(' ')
    expect(path).toContain(`${package_.replaceAll('-', '_')}-${version}-`)
  }
  expect(new Set(cudaRelease.archives.map(({ sha256 }) => sha256)).size).toBe(cudaRelease.archives.length)
})

test("where the loader does not know the driver, the driver's folder comes after ours", async () => {
  const { path } = await pull()
  const root = temporaryFolder()
  const folder = join(root, 'usr/local/nvidia/lib64')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'libcuda.so.1'), '')
  expect(cudaRuntime(dataDir, '1.30.0', '/given', root)).toMatchObject({ libraryPath: `${path}:${folder}:/given` })
  mkdirSync(join(root, 'usr/lib64'), { recursive: true })
  writeFileSync(join(root, 'usr/lib64/libcuda.so.1'), '')
  expect(cudaRuntime(dataDir, '1.30.0', '/given', root)).toMatchObject({ libraryPath: `${path}:/given` })
})
