/**
 * Reaching the WebAssembly builds inside packages that only export a browser worker around them (one promise a frame,
 * and it does not start under Bun). What a build offers is declared where it is used.
 */

/** What every build has. The views are replaced when its memory grows, so read them again after each call. */
export interface WasmBuild {
  HEAPU8: Uint8Array<ArrayBuffer>
}

/**
 * @param imported the default import: the factory itself when run from source, the CommonJS exports once bundled
 * @returns the factory of instances
 */
export function buildFactory<Build extends WasmBuild>(imported: unknown): () => Promise<Build> {
  const factory = typeof imported === 'function' ? imported : (imported as { default?: unknown }).default
  if (typeof factory !== 'function') throw new Error('the WebAssembly package does not contain what it used to')
  return factory as () => Promise<Build>
}

/** A copy of `size` bytes at an address. */
export const bytesAt = (build: WasmBuild, address: number, size: number): Uint8Array<ArrayBuffer> =>
  build.HEAPU8.slice(address, address + size)
