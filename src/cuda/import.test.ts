import { beforeEach, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { type TarEntry, tarOf, type ZipEntry, zipOf } from '../testing/archives.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { sha256Of } from '../testing/hub.ts'
import { never } from '../testing/test-model.ts'
import { importCuda, type ImportParts } from './bring.ts'
import { cudaRuntime, placeOf, readManifest, runtimeFolder } from './installed.ts'
import { cudaBuild, libraryOf } from './library.fixture.ts'
import { testParts } from './parts.fixture.ts'
import { cudaRelease } from './release.ts'

let dataDir: string
let parts: ImportParts
let sources: string
beforeEach(() => {
  dataDir = temporaryFolder()
  sources = temporaryFolder()
  parts = testParts(dataDir)
})

const bring = (...paths: string[]) => importCuda(cudaRelease, paths, parts, never)
const installed = () => readManifest(placeOf(runtimeFolder(dataDir)))

function written(name: string, content: Uint8Array): string {
  const path = join(sources, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

type Files = ReadonlyMap<string, Uint8Array>

/** With its list of contents, as in a wheel. */
function wheelOf(package_: string, files: Files, recorded: (content: Uint8Array) => string = sha256Of): Uint8Array {
  const lib = [...files].map(([name, content]): ZipEntry => ({ name: `${package_}/lib/${name}`, content }))
  const lines = lib.map(({ name, content }) => {
    const hash = Buffer.from(recorded(content), 'hex').toString('base64url')
    return `${name},sha256=${hash},${content.length}`
  })
  const record = `${package_}-1.dist-info/RECORD`
  const licence = { name: `${package_}-1.dist-info/licenses/License.txt`, content: Buffer.from('The terms.') }
  return zipOf([...lib, licence, { name: record, content: Buffer.from([...lines, `${record},,`].join('\r\n')) }])
}

/** Like the releases on GitHub, with links from the short names to the long ones. */
async function tarballOf(files: Files, more: readonly TarEntry[] = []): Promise<Uint8Array> {
  const entries = [...files].map(([name, content]): TarEntry => ({ name: `./onnxruntime-gpu/lib/${name}`, content }))
  const link = { name: './onnxruntime-gpu/lib/libonnxruntime.so.1', type: 'symlink', linkname: 'x' } as const
  return gzipSync(await tarOf([...entries, link, ...more]))
}

/** For several processors, as published. */
const nupkgOf = (files: Files): Uint8Array =>
  zipOf(
    [...files].flatMap(([name, content]) => [
      { name: `runtimes/linux-${other}/native/${name}`, content: Buffer.from('for another processor') },
      { name: `runtimes/linux-${process.arch}/native/${name}`, content },
    ]),
  )
const other = process.arch === 'x64' ? 'arm64' : 'x64'

const made = cudaBuild()
const all = new Map([...made.onnxRuntime, ...made.nvidia])
const names = [...all.keys()].map((name) => (name === 'libonnxruntime.so.1.30.0' ? 'libonnxruntime.so.1' : name)).sort()

test("wheels: all files go into one folder under the loader's names, checked against their own lists", async () => {
  const [onnx, nvidia] = [wheelOf('onnxruntime', made.onnxRuntime), wheelOf('nvidia', made.nvidia)]
  const { manifest, path } = await bring(written('a.whl', onnx), written('b.whl', nvidia))
  expect(manifest).toEqual(installed() ?? manifest)
  expect(manifest).toMatchObject({ release: null, onnxRuntime: '1.30.0', cudaMajor: 13, system: [] })
  expect(readdirSync(path).sort()).toEqual([...names, 'licenses', 'myna.json'].sort())
  expect(readdirSync(join(path, 'licenses'))).toEqual(['a.whl-License.txt', 'b.whl-License.txt'])
  expect(new Set(manifest.files.map(({ evidence }) => evidence))).toEqual(new Set(['recorded']))
  for (const { name, sha256 } of manifest.files) expect(sha256Of(readFileSync(join(path, name)))).toBe(sha256)
  expect(readdirSync(join(dataDir, 'runtime/installed'))).toEqual(['cuda'])
  expect(cudaRuntime(dataDir, '1.30.0', '/opt/lib:', sources)).toEqual({
    dir: path,
    libraryPath: `${path}:/opt/lib`,
    cudaMajor: 13,
  })
})

test('a release archive and a toolkit folder with its links and stubs', async () => {
  const toolkit = join(sources, 'cuda/lib64')
  for (const [name, content] of made.nvidia) written(`cuda/lib64/${name}.2.1`, content)
  for (const name of made.nvidia.keys()) symlinkSync(`${name}.2.1`, join(toolkit, name))
  symlinkSync('libcudart.so.13', join(toolkit, 'libcudart.so'))
  written('cuda/lib64/stubs/libcublas.so.13.2.1.999', Buffer.from('a stub'))
  const { manifest } = await bring(written('ort.tgz', await tarballOf(made.onnxRuntime)), join(sources, 'cuda'))
  expect(manifest.files.map(({ name }) => name)).toEqual(names)
  expect(new Set(manifest.files.map(({ origin }) => origin))).toEqual(
    new Set([join(sources, 'ort.tgz'), join(sources, 'cuda')]),
  )
})

test('a NuGet package beside wheels, all in one download folder; unneeded files are not kept', async () => {
  const other = new Map([...made.nvidia, ['libcurand.so.10', libraryOf({ soname: 'libcurand.so.10' })]])
  written('downloads/ort.nupkg', nupkgOf(made.onnxRuntime))
  written('downloads/nvidia.whl', wheelOf('nvidia', other))
  const { manifest } = await bring(join(sources, 'downloads'))
  expect(manifest.files.map(({ name }) => name)).toEqual(names)
})

test('libraries of the system count, and are reported when they disappear', async () => {
  const nvidia = new Map([...made.nvidia].filter(([name]) => name !== 'libcublasLt.so.13'))
  const root = mkdtempSync(join(sources, 'root-'))
  mkdirSync(join(root, 'usr/lib64'), { recursive: true })
  const theirs = join(root, 'usr/lib64/libcublasLt.so.13')
  parts = { ...parts, find: (name) => (name === 'libcublasLt.so.13' ? theirs : null) }
  const { manifest } = await bring(
    written('a.nupkg', nupkgOf(made.onnxRuntime)),
    written('b.whl', wheelOf('n', nvidia)),
  )
  expect(manifest.system).toEqual(['libcublasLt.so.13'])
  expect(cudaRuntime(dataDir, '1.30.0', '', root)).toEqual({
    missing:
      'the CUDA build of ONNX Runtime is damaged (libcublasLt.so.13 is no longer on the system): myna runtime pull ' +
      'cuda mends it',
  })
  writeFileSync(theirs, '')
  expect(cudaRuntime(dataDir, '1.30.0', '', root)).toMatchObject({ cudaMajor: 13 })
})

interface Refusal {
  code: string
  message: string
}

/** A refused import leaves the old state unchanged. */
async function refusalOf(...paths: string[]): Promise<Refusal> {
  const before = installed()
  const error = await bring(...paths).then(
    () => null,
    (thrown: unknown) => thrown as Refusal,
  )
  expect(installed()).toEqual(before)
  const place = join(dataDir, 'runtime/installed')
  expect(existsSync(place) ? readdirSync(place).filter((name) => name !== 'cuda') : []).toEqual([])
  if (error === null) throw new Error('the import was not refused')
  return { code: error.code, message: error.message }
}

test('every refusal has its own message, and the former installation stays', async () => {
  const nvidia = written('nvidia.whl', wheelOf('nvidia', made.nvidia))
  await bring(written('good.nupkg', nupkgOf(made.onnxRuntime)), nvidia)
  const one = (change: Record<string, Uint8Array>) =>
    written('bad.nupkg', nupkgOf(new Map([...made.onnxRuntime, ...Object.entries(change)])))
  const provider = 'libonnxruntime_providers_cuda.so'

  expect(await refusalOf(one({}))).toMatchObject({
    code: 'libraries_missing',
    message: expect.stringContaining('4 libraries are missing for CUDA 13: libcublas.so.13 (for libonnxruntime_prov'),
  })
  expect(await refusalOf(nvidia)).toMatchObject({
    code: 'libraries_missing',
    message: expect.stringContaining(`There is no ${provider}: give a CUDA build of ONNX Runtime`),
  })
  const older = nupkgOf(cudaBuild({ release: '1.29.1' }).onnxRuntime)
  expect(await refusalOf(written('older.nupkg', older), nvidia)).toMatchObject({
    code: 'wrong_version',
    message: expect.stringMatching(
      /^libonnxruntime.* is of ONNX Runtime 1\.29\.1, and this program needs exactly 1\.30/,
    ),
  })
  const mixed = cudaBuild({ release: '1.29.1' }).onnxRuntime.get(provider) ?? Buffer.alloc(0)
  expect(await refusalOf(one({ [provider]: mixed }), nvidia)).toMatchObject({
    code: 'wrong_version',
    message: expect.stringContaining(`${provider} is of ONNX Runtime 1.29.1`),
  })
  const library = libraryOf({ soname: 'libonnxruntime_providers_shared.so' })
  const short = { 'libonnxruntime_providers_shared.so': library.subarray(0, 300) }
  expect(await refusalOf(one(short), nvidia)).toEqual({
    code: 'bad_library',
    message:
      'libonnxruntime_providers_shared.so is a damaged library: it was cut short: ' +
      `300 of ${library.length} bytes are there.`,
  })
  const climbing = libraryOf({ soname: '../../../evil.so' })
  expect(await refusalOf(one({ 'libonnxruntime_providers_shared.so': climbing }), nvidia)).toEqual({
    code: 'bad_library',
    message: "libonnxruntime_providers_shared.so calls itself '../../../evil.so', which is not the name of a library.",
  })
})

test('refuses a damaged archive: cut short, of another kind, or not an archive', async () => {
  const nvidia = written('nvidia.whl', wheelOf('nvidia', made.nvidia))
  const tarball = await tarballOf(made.onnxRuntime)
  expect(await refusalOf(written('cut.tgz', tarball.subarray(0, tarball.length / 2)), nvidia)).toMatchObject({
    code: 'bad_archive',
    message: expect.stringContaining('cut.tgz cannot be read to the end'),
  })
  const wheel = wheelOf('onnxruntime', made.onnxRuntime)
  expect(await refusalOf(written('cut.whl', wheel.subarray(0, wheel.length - 40)), nvidia)).toMatchObject({
    code: 'bad_archive',
  })
  const lying = wheelOf('onnxruntime', made.onnxRuntime, () => 'ab'.repeat(32))
  expect(await refusalOf(written('lying.whl', lying), nvidia)).toMatchObject({
    code: 'bad_archive',
    message: expect.stringMatching(
      /^onnxruntime\/lib\/lib.* is damaged: its SHA-256 differs from the one that the archive/,
    ),
  })
  expect(await refusalOf(written('x.whl', Buffer.from('this is none')))).toMatchObject({ code: 'no_such_source' })
  expect(await refusalOf(join(sources, 'nothing.whl'))).toMatchObject({ code: 'no_such_source' })
})

test('ignores links and names that climb out of an archive', async () => {
  const evil = [...all].map(([name, content]): TarEntry => ({ name: `../../../${name}`, content }))
  const link = { name: 'lib/libcudart.so.13', type: 'symlink', linkname: '/etc/passwd' } as const
  const archive = gzipSync(await tarOf([...evil, link]))
  expect(await refusalOf(written('evil.tgz', archive))).toMatchObject({ code: 'libraries_missing' })
})

test('without enough space, nothing is written and the figures are reported', async () => {
  parts = { ...parts, freeBytes: () => 100_000_100 }
  const wheel = written('all.whl', wheelOf('all', all))
  expect(await refusalOf(wheel)).toMatchObject({
    code: 'disk_full',
    message: expect.stringMatching(/^There is not enough disk space: 1 MB will be written to .*runtime, 100 MB must/),
  })
})

test('a driver that is too old for this CUDA is reported before anything is installed', async () => {
  parts = { ...parts, driver: '535.183.01' }
  const wheel = written('all.whl', wheelOf('all', all))
  expect(await refusalOf(wheel)).toEqual({
    code: 'old_driver',
    message:
      'The NVIDIA driver here is 535.183.01, and CUDA 13 needs 580 or newer. Update the driver. Or import the build ' +
      'for CUDA 12: onnxruntime-linux-x64-gpu_cuda12-1.30.0.tgz of the release on GitHub, and the packages ' +
      'nvidia-...-cu12. Use --force to install it anyway.',
  })
  const older = cudaBuild({ cudaMajor: 12 })
  const { manifest } = await bring(written('12.whl', wheelOf('all', new Map([...older.onnxRuntime, ...older.nvidia]))))
  expect(manifest.cudaMajor).toBe(12)
})

test('an aborted import leaves nothing, and the remains of a killed one are removed', async () => {
  const place = join(dataDir, 'runtime/installed')
  mkdirSync(join(place, '.new-killed'), { recursive: true })
  const stop = new AbortController()
  const reason = new Error('stopped')
  let unpacked = 0
  parts = {
    ...parts,
    onEvent: ({ event }) => {
      if (event === 'unpacking' && ++unpacked === 3) stop.abort(reason)
    },
  }
  const wheel = written('all.whl', wheelOf('all', all))
  const stopped = await importCuda(cudaRelease, [wheel], parts, stop.signal).catch((error: unknown) => error)
  expect(stopped).toBe(reason)
  expect(unpacked).toBe(3)
  expect(readdirSync(place)).toEqual([])
})
