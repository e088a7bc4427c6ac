/**
 * Files as the executable carries them: compressed with zstd, in `build/out/packed`. Each content is compressed once,
 * and the next build takes it as it is.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Where the compiler writes. */
export const outDir = join(resolve(import.meta.dir, '..'), 'build', 'out')

/** @param level of zstd, 1 to 19 @returns the path of the compressed file */
export async function packed(name: string, bytes: Uint8Array, level: number): Promise<string> {
  const folder = join(outDir, 'packed')
  const path = join(folder, `${name}.${Bun.hash(bytes).toString(16)}.${level}.zst`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  const temp = `${path}.${process.pid}`
  await Bun.write(temp, await Bun.zstdCompress(bytes, { level }))
  renameSync(temp, path)
  return path
}
