/** The libraries in the executable, unpacked by the executable itself. */
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshExecutable } from '../../build/compile.ts'
import { onnxRuntimeVersion } from '../embedded/onnx-runtime.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { isUnpacked, type Natives, NativeError, loadNative, openNative, setNativeDir, unpack } from './native.ts'

// Every run unpacks 100 MB or reads all of it, four runs at a time.
setDefaultTimeout(60_000)

const folder = temporaryFolder()
const myna = join(folder, 'myna')
let fresh = 0

beforeAll(async () => copyFileSync(await freshExecutable(), myna))

const freshDir = (): string => join(folder, `cache-${fresh++}`)

interface Run {
  code: number
  stdout: string
  stderr: string
}

async function run(command: string[], nativeDir: string): Promise<Run> {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: process.env.PATH, MYNA_NATIVE_DIR: nativeDir },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, stdout, stderr }
}

const check = (nativeDir: string): Promise<Run> => run([myna, 'selfcheck-native'], nativeDir)

/** The one folder of this version below `nativeDir`; fails if anything else was left there. */
function unpacked(nativeDir: string): string {
  const entries = readdirSync(nativeDir)
  expect(entries).toEqual([expect.stringMatching(/^native-[0-9a-f]{16}$/)])
  return join(nativeDir, entries[0]!)
}

test('the first run unpacks, the second finds everything in place', async () => {
  const dir = freshDir()
  const first = await check(dir)
  expect(first).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(first.stdout)).toEqual({ onnxruntime: onnxRuntimeVersion, libvips: '8.18.7' })
  const library = join(unpacked(dir), 'ort', 'libonnxruntime.so.1')
  utimesSync(library, 1, 1)
  expect(await check(dir)).toEqual(first)
  expect(statSync(library).mtimeMs).toBe(1000)
})

test('four first runs at once all succeed and leave one folder', async () => {
  const dir = freshDir()
  const runs = await Promise.all([check(dir), check(dir), check(dir), check(dir)])
  for (const { code, stderr } of runs) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  unpacked(dir)
})

test('a library or a list that was cut short is unpacked anew, even by four runs at once', async () => {
  const dir = freshDir()
  await check(dir)
  const library = join(unpacked(dir), 'ort', 'libonnxruntime.so.1')
  const list = join(unpacked(dir), '.complete')
  const bytes = statSync(library).size
  truncateSync(library, 1000)
  const runs = await Promise.all([check(dir), check(dir), check(dir), check(dir)])
  for (const { code, stderr } of runs) expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(statSync(library).size).toBe(bytes)
  truncateSync(list, 20)
  expect((await check(dir)).code).toBe(0)
  expect(readFileSync(list, 'utf8')).toMatch(/\nend [0-9a-f]{16}\n$/)
  unpacked(dir)
})

test('a folder that cannot be written to is reported with a remedy', async () => {
  const dir = join(folder, 'a-file')
  writeFileSync(dir, '')
  const { code, stderr } = await check(join(dir, 'below'))
  expect(code).toBe(1)
  expect(stderr).toStartWith(`myna: Cannot write to ${join(dir, 'below')}`)
  expect(stderr).toContain('MYNA_NATIVE_DIR')
})

/**
 * Runs the check with a file system of its own mounted at the folder, and lists what is left. Both disappear with it.
 */
async function checkMounted(options: string): Promise<Run> {
  const mount = `mkdir "$0" && mount -t tmpfs -o ${options} tmpfs "$0"`
  const script = `${mount} && { "$1" selfcheck-native; code=$?; ls -A "$0"; exit $code; }`
  const dir = freshDir()
  return run(['unshare', '-rm', 'sh', '-c', script, dir, myna], dir)
}
const canMount = Bun.which('unshare') !== null && Bun.spawnSync(['unshare', '-rm', 'true']).success

// Skipped where the system does not allow mounting a file system (no user namespaces).
test.skipIf(!canMount)('a file system mounted noexec is reported with a remedy', async () => {
  const { code, stderr } = await checkMounted('size=128m,noexec')
  expect(code).toBe(1)
  expect(stderr).toContain('mounted noexec')
  expect(stderr).toContain('MYNA_NATIVE_DIR')
})

// Skipped where the system does not allow mounting a file system (no user namespaces).
test.skipIf(!canMount)('a full disk is reported, and nothing is left on it', async () => {
  const { code, stdout, stderr } = await checkMounted('size=8m')
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toStartWith('myna: The disk is full')
  expect(stderr).toContain('MYNA_NATIVE_DIR')
})

async function smallNatives(): Promise<Natives> {
  const source = join(folder, 'small.zst')
  await Bun.write(source, Bun.zstdCompressSync('content'))
  return { hash: '0123456789abcdef', files: [{ path: 'a/b.so', bytes: 7, source }] }
}

test('a library that the user replaced is kept once its line is removed from the list', async () => {
  const dir = freshDir()
  const natives = await smallNatives()
  const whole = unpack(natives, dir)
  const library = join(whole, 'a', 'b.so')
  const list = join(whole, '.complete')
  writeFileSync(library, 'a build of my own')
  writeFileSync(list, readFileSync(list, 'utf8').replace('7 a/b.so\n', ''))
  expect(unpack(natives, dir)).toBe(whole)
  expect(readFileSync(library, 'utf8')).toBe('a build of my own')
})

test('what processes that were killed had unpacked is removed, and what others are unpacking is not', async () => {
  const dir = freshDir()
  const natives = await smallNatives()
  const dead = Bun.spawnSync(['true']).pid
  const left = (pid: number, hash: string, name: string, ageS: number) => {
    const path = join(dir, `native-${hash}.${pid}.${name}`)
    mkdirSync(join(path, 'a'), { recursive: true })
    utimesSync(path, Date.now() / 1000 - ageS, Date.now() / 1000 - ageS)
  }
  left(dead, natives.hash, 'old', 600)
  // As in a container, where each start has the same number.
  left(process.pid, natives.hash, 'own', 600)
  left(dead, natives.hash, 'fresh', 0)
  left(process.ppid, natives.hash, 'alive', 600)
  left(dead, 'fedcba9876543210', 'other', 600)
  unpack(natives, dir)
  expect(
    readdirSync(dir)
      .map((name) => name.split('.')[2] ?? 'whole')
      .sort(),
  ).toEqual(['alive', 'fresh', 'whole'])
})

test('a file that is not a library is reported with its path', async () => {
  const natives = await smallNatives()
  setNativeDir(freshDir())
  expect(isUnpacked(natives)).toBe(false)
  expect(() => loadNative(natives, 'a/b.so')).toThrow(NativeError)
  expect(isUnpacked(natives)).toBe(true)
  expect(() => loadNative(natives, 'a/b.so')).toThrow(/Cannot load .*b\.so/)
  const refused = () => openNative(natives, 'a/b.so', () => void process.dlopen({ exports: {} }, '/dev/null'))
  expect(refused).toThrow(NativeError)
})
