/**
 * The build cache: files of built-in models, each under its SHA-256. It is outside the clone, so that a fresh clone
 * finds what another has fetched. In the executable, the files themselves replace this program (`bundle.ts`).
 */
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { EmbeddedFile } from '../src/domain/card.ts'

/** MYNA_BUILD_CACHE, or `myna/build` in the user's cache. */
export const buildCache = (env: Record<string, string | undefined> = process.env): string =>
  env.MYNA_BUILD_CACHE || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'myna', 'build')

export const sha256Of = (bytes: Uint8Array): string => new Bun.CryptoHasher('sha256').update(bytes).digest('hex')

/** @throws Error that says how to get it, when it is missing or damaged */
export async function modelFile(
  { name, sha256, sizeBytes, wheel }: EmbeddedFile,
  cache = buildCache(),
): Promise<Uint8Array<ArrayBuffer>> {
  const file = Bun.file(join(cache, sha256))
  const bytes = file.size === sizeBytes && (await file.exists()) ? await file.bytes() : null
  if (bytes !== null && sha256Of(bytes) === sha256) return bytes
  const source = `${wheel.package} ${wheel.version}`
  throw new Error(`${name} of ${source} is not in the build cache ${cache}. Fetch it: bun build/fetch-models.ts`)
}

export interface CarriedGraph {
  model: Uint8Array<ArrayBuffer>
  /** By ONNX Runtime, when Myna was built. */
  isOptimised: boolean
}

/** @param prepare makes the graph out of the file @throws as `modelFile` */
export const graphFile = async (
  file: EmbeddedFile,
  prepare: (model: Uint8Array) => Uint8Array<ArrayBuffer>,
): Promise<CarriedGraph> => ({ model: prepare(await modelFile(file)), isOptimised: false })
