/**
 * Build plug-in: replaces the two package loaders that look for a native library in node_modules, which is not there
 * beside an executable, by `src/engine/native.ts` and the libraries themselves, embedded with zstd.
 *
 * Measured: level 12 makes 22.9 MB of 65.3 MB and takes 3 s, once; level 3 makes 25.2 MB in 0.5 s; level 19 makes
 * 20.7 MB in 42 s, which only a release is worth. Unpacking takes 0.2 s, once a machine and version.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type { BunPlugin } from 'bun'
import type { NativeFile, Natives } from '../src/engine/native.ts'
import { packed } from './packed.ts'

const root = resolve(import.meta.dir, '..')
const modules = join(root, 'node_modules')

/** sharp's RPATH is `$ORIGIN/../../sharp-libvips-linux-x64/lib`, ONNX Runtime's `$ORIGIN`. */
const libraries = [
  { glob: 'onnxruntime-node/bin/napi-v6/linux/x64/onnxruntime_binding.node', folder: 'ort' },
  { glob: 'onnxruntime-node/bin/napi-v6/linux/x64/libonnxruntime.so.1', folder: 'ort' },
  { glob: '@img/sharp-linux-x64/lib/*.node', folder: 'img/sharp-linux-x64/lib' },
  { glob: '@img/sharp-libvips-linux-x64/lib/libvips-cpp.so.*', folder: 'img/sharp-libvips-linux-x64/lib' },
]

/** The libraries in node_modules, uncompressed. */
export function findNatives(): Natives {
  const hash = createHash('sha256')
  const files = libraries.map(({ glob, folder }): NativeFile => {
    const found = [...new Bun.Glob(glob).scanSync({ cwd: modules, onlyFiles: true })]
    if (found.length !== 1) throw new Error(`native library ${glob}: found ${found.length}, expected one`)
    const source = join(modules, found[0]!)
    const path = `${folder}/${basename(source)}`
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

/** Fails the build if a package no longer loads its library in the same way. */
export function nativePlugin(natives: Natives): BunPlugin {
  const native = JSON.stringify(join(root, 'src/engine/native.ts'))
  const pathOf = (name: string) =>
    JSON.stringify(natives.files.find(({ path }) => basename(path).startsWith(name))?.path)
  return {
    name: 'native',
    setup(build) {
      build.onResolve({ filter: /^myna:natives$/ }, ({ path }) => ({ path, namespace: 'myna' }))
      build.onLoad({ filter: /./, namespace: 'myna' }, () => ({ contents: embedded(natives), loader: 'js' }))
      build.onLoad({ filter: /onnxruntime-node\/dist\/binding\.js$/ }, async ({ path }) => {
        const given = await Bun.file(path).text()
        const load = `require(${native}).loadNative(require('myna:natives').natives, ${pathOf('onnxruntime_binding')})`
        const contents = given.replace(/require\(`\.\.\/bin\/napi-v6\/[^`]*`\)/, load)
        if (contents === given) throw new Error(`${path} loads its library in a new way: see build/native.ts`)
        return { contents, loader: 'js' }
      })
      build.onLoad({ filter: /sharp\/dist\/sharp\.mjs$/ }, () => ({
        contents: [
          `import { loadNative } from ${native}`,
          `import { natives } from 'myna:natives'`,
          `export default loadNative(natives, ${pathOf('sharp-linux')})`,
        ].join('\n'),
        loader: 'js',
      }))
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
