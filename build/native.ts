/**
 * Build plug-in: replaces what finds native libraries outside an executable (sharp's loader, which looks into
 * node_modules, and `src/embedded/{onnx-runtime,libopus}.ts`) by `src/engine/native.ts` and the libraries, embedded
 * with zstd.
 *
 * Measured: level 12 makes 19.3 MB of 53.9 MB and takes 3 s, once; level 3 makes 21.0 MB in 0.3 s; level 19 makes
 * 17.5 MB in 29 s, which only a release is worth. Unpacking takes 0.2 s, once a machine and version.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import type { NativeFile, Natives } from '../src/engine/native.ts'
import { cachedPath } from './cache.ts'
import { libopus } from './libopus.ts'
import { onnxRuntime } from './onnx-runtime.ts'
import { packed } from './packed.ts'

const root = resolve(import.meta.dir, '..')
const modules = join(root, 'node_modules')

const onnxRuntimePath = `ort/${onnxRuntime.name}`
const libopusPath = `opus/${libopus.name}`

/** sharp's RPATH is `$ORIGIN/../../sharp-libvips-linux-x64/lib`. */
const libraries = [
  { glob: '@img/sharp-linux-x64/lib/*.node', folder: 'img/sharp-linux-x64/lib' },
  { glob: '@img/sharp-libvips-linux-x64/lib/libvips-cpp.so.*', folder: 'img/sharp-libvips-linux-x64/lib' },
]

/** The libraries in node_modules and in the build cache, uncompressed. @throws Error when one is missing */
export function findNatives(): Natives {
  const inModules = libraries.map(({ glob, folder }) => {
    const found = [...new Bun.Glob(glob).scanSync({ cwd: modules, onlyFiles: true })]
    if (found.length !== 1) throw new Error(`native library ${glob}: found ${found.length}, expected one`)
    const source = join(modules, found[0]!)
    return { path: `${folder}/${basename(source)}`, source }
  })
  const hash = createHash('sha256')
  const all = [
    { path: onnxRuntimePath, source: cachedPath(onnxRuntime) },
    { path: libopusPath, source: cachedPath(libopus) },
    ...inModules,
  ]
  const files = all.map(({ path, source }): NativeFile => {
    const content = readFileSync(source)
    hash.update(path).update(content)
    return { path, bytes: content.length, source }
  })
  return { hash: hash.digest('hex').slice(0, 16), files }
}

/** The same, compressed. */
export async function packNatives(level: number): Promise<Natives> {
  const { hash, files } = findNatives()
  const sources = files.map(async (file): Promise<NativeFile> => {
    return { ...file, source: await packed(basename(file.path), readFileSync(file.source), level) }
  })
  return { hash, files: await Promise.all(sources) }
}

export function nativePlugin(natives: Natives): BunPlugin {
  const native = JSON.stringify(join(root, 'src/engine/native.ts'))
  const pathOf = (name: string) =>
    JSON.stringify(natives.files.find(({ path }) => basename(path).startsWith(name))?.path)
  return {
    name: 'native',
    setup(build) {
      const replace = (filter: RegExp, ...lines: string[]) => {
        const imports = [`import * as native from ${native}`, `import { natives } from 'myna:natives'`]
        build.onLoad({ filter }, () => ({ contents: [...imports, ...lines].join('\n'), loader: 'js' }))
      }
      build.onResolve({ filter: /^myna:natives$/ }, ({ path }) => ({ path, namespace: 'myna' }))
      build.onLoad({ filter: /./, namespace: 'myna' }, () => ({ contents: embedded(natives), loader: 'js' }))
      replace(
        /\/src\/embedded\/onnx-runtime\.ts$/,
        `export const openOnnxRuntime = (open) => native.openNative(natives, ${JSON.stringify(onnxRuntimePath)}, open)`,
        'export const isOnnxRuntimeAtHand = () => native.isUnpacked(natives)',
        `export const onnxRuntimeVersion = ${JSON.stringify(onnxRuntime.wheel.version)}`,
      )
      replace(
        /\/src\/embedded\/libopus\.ts$/,
        `export const openLibopus = (open) => native.openNative(natives, ${JSON.stringify(libopusPath)}, open)`,
      )
      replace(/sharp\/dist\/sharp\.mjs$/, `export default native.loadNative(natives, ${pathOf('sharp-linux')})`)
    },
  }
}

function embedded(natives: Natives): string {
  const imports = natives.files.map(
    ({ source }, index) => `import source${index} from ${JSON.stringify(source)} with { type: 'file' }`,
  )
  const files = natives.files.map(
    ({ path, bytes }, index) => `{ path: ${JSON.stringify(path)}, bytes: ${bytes}, source: source${index} }`,
  )
  return `${imports.join('\n')}\nexport const natives = { hash: '${natives.hash}', files: [${files.join(', ')}] }\n`
}
