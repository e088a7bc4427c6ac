/**
 * Decides what is taken from an archive or a folder: the libraries that ONNX Runtime's CUDA provider may need, in any
 * layout, by their names alone. Of several names of one library (`libcublas.so`, `.so.13`, `.so.13.1.0`, usually links
 * to each other) the longest is the file itself. Stubs, which are only for linking, are skipped, and so are folders
 * that name another processor.
 */
import type { Source, SourceEntry } from '../catalog/install/source.ts'

/** A source of pieces, by the name that a person gave it or knows. */
export interface Origin {
  label: string
  source: Source
  /** Verified hash of the archive; null: not verified. */
  sha256: string | null
}

export interface Member {
  origin: Origin
  entry: SourceEntry
  kind: 'library' | 'license'
}

const stems = [
  'onnxruntime',
  'onnxruntime_providers_cuda',
  'onnxruntime_providers_shared',
  'cudart',
  'cublas',
  'cublasLt',
  'curand',
  'cudnn',
  'cudnn_\\w+',
  'nvrtc',
  'nvrtc-builtins',
  'nvJitLink',
]
const wanted = new RegExp(`^lib(${stems.join('|')})\\.so((?:\\.\\d+)*)$`)
/** Layouts of NuGet packages, toolkits and wheels. */
const otherProcessors: Readonly<Record<string, RegExp>> = { x64: /arm64|aarch64|sbsa/, arm64: /x64|x86_64/ }
const licence = /(^|\/)(LICENSE|License\.txt|EULA\.txt|ThirdPartyNotices\.txt)$/
const licenceBytesMax = 1 << 20
const licencesMax = 6
/** Larger ones would be none of these. */
const libraryBytesMax = 4 * 2 ** 30

/** A list of an archive's own contents with their hashes. Source: Python packaging, recording installed projects. */
export const recordPattern = /^[^/]+\.dist-info\/RECORD$/

/** Earlier origins win where two have the same library. @throws what reading an origin throws */
export async function findMembers(origins: readonly Origin[], signal: AbortSignal): Promise<Member[]> {
  const libraries = new Map<string, Member>()
  const licences: Member[] = []
  for (const origin of origins) {
    const entries = await origin.source.entries(signal)
    for (const entry of entries) {
      const key = keyOf(entry)
      const before = key === null ? undefined : libraries.get(key)
      if (key === null || (before !== undefined && before.origin !== origin)) continue
      if (before === undefined || nameOf(entry).length > nameOf(before.entry).length) {
        libraries.set(key, { origin, entry, kind: 'library' })
      }
    }
    const texts = entries.filter(({ path, sizeBytes }) => licence.test(path) && sizeBytes <= licenceBytesMax)
    if (texts.length <= licencesMax) {
      licences.push(...texts.map((entry): Member => ({ origin, entry, kind: 'license' })))
    }
  }
  return [...libraries.values(), ...licences]
}

/** Which library it is, and its major version; null: it is not wanted. */
function keyOf(entry: SourceEntry): string | null {
  const { path, sizeBytes } = entry
  const [, stem, version] = wanted.exec(nameOf(entry)) ?? []
  if (stem === undefined || /(^|\/)stubs\//.test(path) || sizeBytes > libraryBytesMax) return null
  if (otherProcessors[process.arch]?.test(path.slice(0, -nameOf(entry).length))) return null
  return `${stem} ${/^\.\d+/.exec(version ?? '')?.[0] ?? ''}`
}

const nameOf = ({ path }: SourceEntry): string => path.slice(path.lastIndexOf('/') + 1)

/** SHA-256 in hex by path, as a wheel's own list has them. */
export function recordedHashes(text: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [, path, hash] = /^"?([^",]+)"?,sha256=([\w-]+)=*,\d*$/.exec(line) ?? []
    if (path !== undefined && hash !== undefined) found.set(path, Buffer.from(hash, 'base64url').toString('hex'))
  }
  return found
}
