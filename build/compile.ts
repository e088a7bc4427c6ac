/**
 * Makes the executable, `build/out/myna`: the program, its Workers, the native libraries, the built-in models and the
 * notices in one file. `--release` compresses the libraries further and makes everything that a release contains: also
 * the build for processors without AVX2 (whose runtime comes from the package registry), notices, list of parts,
 * install script, unit and SHA256SUMS.
 *
 * It is built in chunks and with bytecode, so that a command reads only what it needs, already compiled. `myna --help`
 * takes 13 ms of processor time, with chunks alone 25, with neither 86; `myna serve` listens after 100, 180 and 213,
 * and has taken 600 and 720 when it first speaks. It costs 12 MB.
 */
import { cpSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Build } from 'bun'
import { bundleConfig, root } from './bundle.ts'
import { fetchFiles, packModels } from './fetch.ts'
import { packNatives } from './native.ts'
import { notices } from './notices.ts'
import { outDir, packed } from './packed.ts'
import { sbom } from './sbom.ts'
import { webFiles } from './web.ts'

/** The executable that tests, demo and start use. */
export const executable = join(outDir, 'myna')

/** Of the libraries: build/native.ts says what it costs and saves. */
const usualLevel = 12

async function compile(outfile: string, level: number, target?: Build.CompileTarget): Promise<void> {
  mkdirSync(outDir, { recursive: true })
  await fetchFiles()
  const natives = await packNatives(level)
  const text = Buffer.from(await notices())
  await Bun.write(join(outDir, 'NOTICES.txt'), text)
  const noticesFile = await packed('NOTICES.txt', text, 19)
  const carried = { noticesFile, web: await webFiles(), models: await packModels() }
  // A running executable cannot be written to ("text file busy"), but its name can be given to another file.
  const temp = `${outfile}.${process.pid}`
  try {
    await Bun.build({
      ...bundleConfig(natives, carried),
      splitting: true,
      bytecode: true,
      format: 'esm',
      // A user's .env and bunfig.toml in the current folder are not ours to load.
      compile: { outfile: temp, autoloadDotenv: false, autoloadBunfig: false, ...(target && { target }) },
    })
    renameSync(temp, outfile)
  } finally {
    rmSync(temp, { force: true })
  }
}

/** For tests: compiles only if a source is newer than the executable. @returns its path */
export async function freshExecutable(): Promise<string> {
  const sources = new Bun.Glob('{src,build,models}/**/*').scanSync({ cwd: root, onlyFiles: true, absolute: true })
  const madeAt = statSync(executable, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isOlderThan = (path: string) => statSync(path).mtimeMs > madeAt
  const isSource = (path: string) => !path.startsWith(outDir) && !path.endsWith('.test.ts')
  if ([join(root, 'bun.lock'), ...sources].some((path) => isSource(path) && isOlderThan(path))) {
    await compile(executable, usualLevel)
  }
  return executable
}

/** Everything that a release holds, in `build/out/release`. */
async function release(): Promise<void> {
  const dir = join(outDir, 'release')
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const builds = { 'myna-linux-x64': 'bun-linux-x64', 'myna-linux-x64-baseline': 'bun-linux-x64-baseline' } as const
  for (const [name, target] of Object.entries(builds)) await compile(join(dir, name), 19, target)
  cpSync(join(outDir, 'NOTICES.txt'), join(dir, 'NOTICES.txt'))
  for (const file of ['install.sh', 'myna.service']) cpSync(join(root, 'build', file), join(dir, file))
  await Bun.write(join(dir, 'myna.cdx.json'), await sbom(Date.now()))
  const sums: string[] = []
  for (const name of readdirSync(dir).sort()) {
    const content = await Bun.file(join(dir, name)).bytes()
    sums.push(`${new Bun.CryptoHasher('sha256').update(content).digest('hex')}  ${name}`)
    console.log(`${name}  ${(content.length / 1e6).toFixed(1)} MB`)
  }
  await Bun.write(join(dir, 'SHA256SUMS'), `${sums.join('\n')}\n`)
}

if (import.meta.main) {
  if (process.argv.includes('--release')) await release()
  else await compile(executable, usualLevel)
}
