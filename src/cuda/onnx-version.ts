/**
 * The release of ONNX Runtime that a library belongs to. The main library versions its symbols by it; the providers
 * have no such names, but contain the release as a text among their constants.
 */
import { readElf } from './elf.ts'
import { ElfFile } from './elf-file.ts'
import { onnxRuntimeLibrary, provider } from './cuda-set.ts'
import { RuntimeError } from './runtime-error.ts'

const constantsMax = 2 ** 28

/** @throws RuntimeError `wrong_version`, `bad_library` */
export function requireVersion(name: string, path: string, release: string): void {
  if (name === onnxRuntimeLibrary) {
    const found = readElf(path).versions.flatMap((version) => /^VERS_(\d.*)$/.exec(version)?.[1] ?? [])
    if (!found.includes(release)) throw wrong(name, found, release)
  }
  if (name === provider) {
    const found = releasesIn(path)
    if (!found.includes(release)) throw wrong(name, found, release)
  }
}

/** Separate texts of the form 1.2.3. */
function releasesIn(path: string): string[] {
  using file = new ElfFile(path)
  const constants = file.section('.rodata')
  if (constants === null || constants.sizeBytes > constantsMax) return []
  const text = file.read(constants.offset, constants.sizeBytes).toString('latin1')
  return [...new Set([...text.matchAll(/\0(1\.\d{1,3}\.\d{1,3})(?=\0)/g)].map(([, release]) => release ?? ''))]
}

function wrong(name: string, found: readonly string[], release: string): RuntimeError {
  const other = found.length === 0 ? 'an unknown release of ONNX Runtime' : `ONNX Runtime ${found.join(' or ')}`
  return new RuntimeError(
    'wrong_version',
    `${name} is of ${other}, and this program needs exactly ${release}: the pieces of two releases do not fit ` +
      'together. myna runtime pull cuda brings the right one.',
  )
}
