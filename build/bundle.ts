/**
 * What goes into the bundle, declared once for the compiler and for the notices.
 *
 * **Workers.** Write `new Worker(new URL('./x-worker.ts', import.meta.url).href)` in a file beside `x-worker.ts`. Every
 * file of src named `*-worker.ts` becomes an entry point of the executable. There `import.meta.url` is the executable
 * itself for every file, so a relative address would be looked up in the wrong folder: a plug-in writes the right one,
 * and fails the build if the file does not exist.
 *
 * **Files** (wasm, html, cards): `import path from './x.wasm' with { type: 'file' }` gives a path that `Bun.file` and
 * `node:fs` read from source and in the executable alike. `new URL('./x.wasm', import.meta.url)` does not.
 */
import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import type { BuildConfig, BunPlugin } from 'bun'
import { cards } from '../src/catalog/cards.ts'
import type { Natives } from '../src/engine/native.ts'
import { encodersPlugin, filesPlugin } from './assets.ts'
import type { PackedModels } from './fetch.ts'
import { nativePlugin } from './native.ts'
import type { WebFiles } from './web.ts'

export const root = resolve(import.meta.dir, '..')
const src = join(root, 'src')

/** What is made before the bundle, because one build cannot wait for another inside it. */
export interface Carried {
  /** What `myna licenses` prints, compressed. */
  noticesFile: string
  web: WebFiles
  models: PackedModels
}

/** @param carried null while the notices are being gathered: the packages themselves are what counts then */
export function bundleConfig(natives: Natives, carried: Carried | null): BuildConfig {
  const workers = [...new Bun.Glob('**/*-worker.ts').scanSync({ cwd: src, absolute: true })].sort()
  return {
    entrypoints: [join(src, 'main.ts'), ...workers],
    root: src,
    target: 'bun',
    minify: true,
    sourcemap: 'none',
    define: { 'process.env.NODE_ENV': '"production"' },
    // The first plug-in that accepts a file decides, so plug-ins that replace a single file come before the general
    // one.
    plugins: [
      nativePlugin(natives),
      ...(carried === null ? [] : [filesPlugin, encodersPlugin]),
      webPlugin(carried?.web ?? null),
      noticesPlugin(carried?.noticesFile ?? null),
      cardsPlugin,
      modelsPlugin(carried?.models ?? {}),
      workerPlugin,
    ],
  }
}

const workerPlugin: BunPlugin = {
  name: 'worker',
  setup(build) {
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, async ({ path }) => {
      const given = await Bun.file(path).text()
      const contents = given.replace(
        /new URL\('(\.\/[\w./-]+-worker)\.ts', import\.meta\.url\)/g,
        (_whole, name: string) => {
          const worker = resolve(dirname(path), name)
          if (!existsSync(`${worker}.ts`)) throw new Error(`${path}: no worker ${worker}.ts`)
          return `new URL(${JSON.stringify(`${relative(src, worker)}.js`)}, 'file:///$bunfs/root/')`
        },
      )
      return { contents, loader: 'ts' }
    })
  },
}

/** The executable carries the finished console instead of the program that bundles it. */
const webPlugin = (web: WebFiles | null): BunPlugin => ({
  name: 'web',
  setup(build) {
    build.onLoad({ filter: /\/src\/embedded\/console\.ts$/ }, () => ({
      contents: `export const consoleFiles = async () => (${JSON.stringify(web)})`,
      loader: 'js',
    }))
  },
})

/**
 * The executable carries the cards as they were read and checked when it was built: to check them takes 8 ms, and both
 * the server and each engine need them.
 */
const cardsPlugin: BunPlugin = {
  name: 'cards',
  setup(build) {
    build.onLoad({ filter: /\/src\/catalog\/cards\.ts$/ }, () => {
      const text = JSON.stringify(cards)
      if (!Bun.deepEquals(JSON.parse(text), cards, true)) throw new Error('a card holds more than JSON can')
      return { contents: `export const cards = JSON.parse(${JSON.stringify(text)})`, loader: 'js' }
    })
  },
}

/** The executable carries the finished notices instead of the program that gathers them. */
function noticesPlugin(file: string | null): BunPlugin {
  const contents =
    file === null
      ? 'export const notices = async () => ""'
      : [
          `import file from ${JSON.stringify(file)} with { type: 'file' }`,
          'export const notices = async () => (await Bun.zstdDecompress(await Bun.file(file).bytes())).toString()',
        ].join('\n')
  return {
    name: 'notices',
    setup(build) {
      build.onLoad({ filter: /\/src\/embedded\/notices\.ts$/ }, () => ({ contents, loader: 'js' }))
    },
  }
}

/**
 * The executable carries the files of built-in models, graphs already prepared, instead of the program that looks into
 * the build cache.
 */
function modelsPlugin(models: PackedModels): BunPlugin {
  const packed = Object.entries(models)
  const contents = [
    ...packed.map(([, path], at) => `import file${at} from ${JSON.stringify(path)} with { type: 'file' }`),
    `const files = { ${packed.map(([sha256], at) => `${JSON.stringify(sha256)}: file${at}`).join(', ')} }`,
    'const unpacked = async ({ sha256 }) => Bun.zstdDecompress(await Bun.file(files[sha256]).bytes())',
    'const graphFile = async (file) => ({ model: await unpacked(file), isOptimised: true })',
    'export { unpacked as cachedFile, graphFile }',
  ].join('\n')
  return {
    name: 'models',
    setup(build) {
      build.onLoad({ filter: /\/build\/cache\.ts$/ }, () => ({ contents, loader: 'js' }))
    },
  }
}
