/**
 * Build plug-ins: what the executable carries compressed though the packages have it as it is. Level 19, which takes
 * three seconds once; a file is unpacked when it is first needed, in at most 3 ms.
 */
import { dirname, basename } from 'node:path'
import type { BunPlugin } from 'bun'
import ts from 'typescript'
import { packed } from './packed.ts'

const level = 19

/** Read by `src/embedded/packed.ts`. They are 5.5 MB, and 2.7 MB compressed. */
const files = /\/(swagger-ui-bundle\.js|swagger-ui\.css|silero_vad_v6\.onnx|decode-audio\.wasm)$/

export const filesPlugin: BunPlugin = {
  name: 'files',
  setup(build) {
    build.onResolve({ filter: files }, async ({ path, importer }) => {
      const source = Bun.resolveSync(path, dirname(importer))
      return { path: await packed(basename(source), await Bun.file(source).bytes(), level) }
    })
  },
}

/** Encoders whose WebAssembly is a string of their program. */
const encoders = /\/(aac-encoder\/dist\/.*\/aac\.js|flac-encoder\/dist\/.*\/flac\.js|libopus\.generated\.mjs)$/

/**
 * The bundler writes most bytes of such a string as four characters, and the bytecode has it once more: 1 MB of
 * WebAssembly would be 3.5 MB of the executable. As a file it is 0.4 MB.
 */
export const encodersPlugin: BunPlugin = {
  name: 'encoders',
  setup(build) {
    // The bundler itself would not find a file that was made after it had looked into the folder.
    build.onResolve({ filter: /^packed:/ }, ({ path }) => ({ path: path.slice('packed:'.length) }))
    build.onLoad({ filter: encoders }, async ({ path }) => {
      const given = await Bun.file(path).text()
      const { from, to, bytes } = webAssemblyOf(path, given)
      const file = JSON.stringify(`packed:${await packed(`${basename(path)}.wasm`, bytes, level)}`)
      // At the end, where nothing hides `require`: in one of the functions it is another.
      const imports = path.endsWith('.mjs')
        ? `import { readFileSync as readPacked } from 'node:fs'\nimport packedFile from ${file}`
        : `const { readFileSync: readPacked } = require('node:fs')\nconst packedFile = require(${file})`
      const unpacked = 'Bun.zstdDecompressSync(readPacked(packedFile))'
      return { contents: `${given.slice(0, from)}${unpacked}${given.slice(to)}\n${imports}\n`, loader: 'js' }
    })
  },
}

/**
 * What Emscripten wrote as `binaryDecode('...')`: a character for each byte, in which 256 stands for 0.
 * @returns the bytes, and where in the program they are
 * @throws Error when it is written in another way
 */
export function webAssemblyOf(path: string, program: string): { from: number; to: number; bytes: Uint8Array } {
  const tree = ts.createSourceFile(path, program, ts.ScriptTarget.Latest, true)
  const found: { from: number; to: number; bytes: Uint8Array }[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.getText() === 'binaryDecode') {
      const [argument] = node.arguments
      if (argument !== undefined && ts.isStringLiteralLike(argument)) {
        const bytes = Uint8Array.from(argument.text, (character) => character.charCodeAt(0) & 0xff)
        found.push({ from: node.getStart(), to: node.end, bytes })
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(tree)
  const [only] = found
  if (only === undefined || found.length > 1 || !WebAssembly.validate(only.bytes)) {
    throw new Error(`${path} carries its WebAssembly in a new way: see build/assets.ts`)
  }
  return only
}
