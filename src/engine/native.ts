/**
 * The native libraries inside the executable. The system loads libraries from files only, so they are unpacked once
 * into `<nativeDir>/native-<hash>/` and opened from there. When run from source, nothing is embedded and this is not
 * called: sharp loads from node_modules, the others from the build cache (`build/native.ts` replaces all in the
 * executable).
 *
 * A half-written folder must never be used, whatever happens meanwhile: each file is flushed to the disk, then the list
 * of sizes, `.complete`, and only then the folder gets its name. Every start compares the sizes with that list, so that
 * a truncated library is unpacked again. A line taken out of `.complete` is not compared: that is how a user replaces
 * libvips with a build of their own, as its license (LGPL) allows. Folders of other versions stay.
 */
import { closeSync, fsyncSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The libraries as `build/native.ts` embeds them. */
export interface Natives {
  /** Hash of all contents: one folder for each set. */
  hash: string
  files: readonly NativeFile[]
}

export interface NativeFile {
  /** Path below the folder; the layout is what the libraries' own search paths (RPATH) expect. */
  path: string
  bytes: number
  /** The embedded file, zstd-compressed. */
  source: string
}

/** The libraries cannot be unpacked or loaded: reported to the user who started the program, with the remedy. */
export class NativeError extends Error {
  override name = 'NativeError'
}

const override = 'Set MYNA_NATIVE_DIR to a folder that is writable, has 100 MB free and may contain programs.'
const listName = '.complete'

let nativeDir: string | null = null
let unpackedDir: string | null = null

/** Where to unpack. Set before a package is imported: the packages call their loaders without arguments. */
export function setNativeDir(dir: string): void {
  nativeDir = dir
  unpackedDir = null
}

/**
 * Called by the packages' loaders: the exports of a native add-on.
 * @throws NativeError
 */
export function loadNative(natives: Natives, path: string): unknown {
  const addon = { exports: {} }
  openNative(natives, path, (file) => process.dlopen(addon, file))
  return addon.exports
}

/**
 * @param open has the system load the library at this path @returns what it returns
 * @throws NativeError, also for what `open` throws
 */
export function openNative<T>(natives: Natives, path: string, open: (file: string) => T): T {
  if (nativeDir === null) throw new NativeError('setNativeDir was not called before a native library was needed')
  unpackedDir ??= unpack(natives, nativeDir)
  const file = join(unpackedDir, path)
  try {
    return open(file)
  } catch (error) {
    throw loadError(file, error)
  }
}

/** Whether an earlier run has unpacked them, whole. */
export const isUnpacked = ({ hash }: Natives): boolean =>
  nativeDir !== null && isWhole(join(nativeDir, `native-${hash}`), hash)

/**
 * Unpacks what is not there yet, whole, however many processes do so at once.
 * @returns the folder that holds the libraries
 * @throws NativeError when the folder cannot be written, or the disk is full
 */
export function unpack(natives: Natives, baseDir: string): string {
  const dir = join(baseDir, `native-${natives.hash}`)
  if (isWhole(dir, natives.hash)) return dir
  let temp: string | null = null
  try {
    mkdirSync(baseDir, { recursive: true, mode: 0o700 })
    removeLeft(baseDir)
    temp = mkdtempSync(`${dir}.${process.pid}.`)
    for (const file of natives.files) {
      writeFlushed(join(temp, file.path), Bun.zstdDecompressSync(readFileSync(file.source)))
    }
    writeFlushed(join(temp, listName), Buffer.from(sizeList(natives)))
    moveInto(temp, dir, natives)
    return dir
  } catch (error) {
    throw unpackError(baseDir, error)
  } finally {
    if (temp !== null) rmSync(temp, { recursive: true, force: true })
  }
}

/** Longer than the unpacking takes on a slow disk. */
const leftMs = 60_000

/**
 * What processes left that were killed while they unpacked: one that has too little memory for it is started again and
 * again, and each would leave 50 MB.
 */
function removeLeft(baseDir: string): void {
  for (const name of readdirSync(baseDir)) {
    const [, pid] = /^native-[0-9a-f]{16}\.(\d+)\./.exec(name) ?? []
    if (pid === undefined || (Number(pid) !== process.pid && isRunning(Number(pid)))) continue
    const path = join(baseDir, name)
    const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity
    if (Date.now() - changedMs > leftMs) remove(path)
  }
}

/** If it can be removed: it may be another user's. */
function remove(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // It only takes space.
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

const endOfList = (hash: string) => `end ${hash}`

const sizeList = (natives: Natives): string =>
  [...natives.files.map((file) => `${file.bytes} ${file.path}`), endOfList(natives.hash), ''].join('\n')

function isWhole(dir: string, hash: string): boolean {
  try {
    const lines = readFileSync(join(dir, listName), 'utf8').trimEnd().split('\n')
    if (lines.pop() !== endOfList(hash)) return false
    return lines.every((line) => {
      const [bytes, path] = line.split(' ')
      return statSync(join(dir, path ?? '')).size === Number(bytes)
    })
  } catch {
    return false
  }
}

function writeFlushed(path: string, content: Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const file = openSync(path, 'w', 0o755)
  try {
    writeFileSync(file, content)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/**
 * Gives the folder its name. If the name is taken, by a faster process or by a damaged folder, each file is put in
 * place by itself: a rename is atomic and all writers bring the same content, so a file is never missing.
 */
function moveInto(temp: string, dir: string, natives: Natives): void {
  try {
    renameSync(temp, dir)
    return
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error
  }
  for (const path of [...natives.files.map((file) => file.path), listName]) {
    mkdirSync(dirname(join(dir, path)), { recursive: true, mode: 0o700 })
    renameSync(join(temp, path), join(dir, path))
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

function unpackError(baseDir: string, error: unknown): NativeError {
  const full = ['ENOSPC', 'EDQUOT'].includes(codeOf(error))
  const what = full ? `The disk is full: native libraries do not fit into ${baseDir}` : `Cannot write to ${baseDir}`
  return new NativeError(`${what} (${messageOf(error)}). ${override}`, { cause: error })
}

function loadError(file: string, error: unknown): NativeError {
  const message = messageOf(error)
  const noexec = message.includes('failed to map segment')
  const what = noexec
    ? `${dirname(file)} is on a file system that may not contain programs (mounted noexec). ${override}`
    : `Cannot load ${file}.`
  return new NativeError(`${what} (${message})`, { cause: error })
}
