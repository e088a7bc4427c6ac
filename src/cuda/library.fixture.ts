/**
 * Writes shared libraries that contain only what the loader reads, for tests of the reader. The order is: header,
 * segments, names, versions, constants, code for cards, the loader's table, sections.
 */
export interface LibraryParts {
  soname?: string
  needed?: readonly string[]
  runpath?: string
  /** The version of its symbols. */
  versions?: readonly string[]
  /** Texts among its constants. */
  texts?: readonly string[]
  /** Code for cards: kind (1: PTX, 2: machine code) and architecture. */
  code?: readonly (readonly [kind: number, architecture: number])[]
}

const headerBytes = 64
const segmentBytes = 56
const sectionBytes = 64

class Names {
  text = '\0'
  at(name: string): number {
    const place = this.text.length
    this.text += `${name}\0`
    return place
  }
}

export function libraryOf(parts: LibraryParts): Buffer {
  const { soname, needed = [], runpath, versions = [], texts = [], code = [] } = parts
  const names = new Names()
  const entries: [number, number][] = needed.map((name) => [1, names.at(name)])
  if (soname !== undefined) entries.push([14, names.at(soname)])
  if (runpath !== undefined) entries.push([29, names.at(runpath)])
  const records = verdef([soname ?? 'x', ...versions], names)
  const strings = Buffer.from(names.text, 'latin1')
  const start = headerBytes + 2 * segmentBytes
  const constants = Buffer.from(['', ...texts, ''].join('\0'), 'latin1')
  const fatbin = fatbinOf(code)
  const pieces = [strings, records, constants, fatbin].map(padded)
  const places = pieces.map((_, at) => start + pieces.slice(0, at).reduce((sum, { length }) => sum + length, 0))
  const [stringsAt = 0, recordsAt = 0, constantsAt = 0, fatbinAt = 0] = places
  entries.push([5, stringsAt], [10, strings.length])
  if (versions.length > 0) entries.push([0x6ffffffc, recordsAt], [0x6ffffffd, versions.length + 1])
  const dynamic = Buffer.concat(
    [...entries, [0, 0]].map(([name = 0, value = 0]) => words([BigInt(name), BigInt(value)])),
  )
  const dynamicAt = fatbinAt + (pieces[3]?.length ?? 0)
  const sectionNames = new Names()
  const sections = [
    section(sectionNames, '.rodata', constantsAt, constants.length),
    section(sectionNames, '.nv_fatbin', fatbinAt, fatbin.length),
  ]
  const nameAt = sectionNames.at('.shstrtab')
  const shstrtab = padded(Buffer.from(sectionNames.text, 'latin1'))
  const shstrtabAt = dynamicAt + dynamic.length
  sections.push(sectionOf(nameAt, shstrtabAt, shstrtab.length))
  const sectionsAt = shstrtabAt + shstrtab.length
  const sizeBytes = sectionsAt + sections.length * sectionBytes
  const segments = [segment(1, 0, sizeBytes), segment(2, dynamicAt, dynamic.length)]
  return Buffer.concat([header(sectionsAt, sections.length), ...segments, ...pieces, dynamic, shstrtab, ...sections])
}

const machine: Readonly<Record<string, number>> = { x64: 62, arm64: 183 }

function header(sectionsAt: number, sectionCount: number): Buffer {
  const bytes = Buffer.alloc(headerBytes)
  bytes.write('\x7fELF\x02\x01\x01', 'latin1')
  bytes.writeUInt16LE(3, 0x10)
  bytes.writeUInt16LE(machine[process.arch] ?? 0, 0x12)
  bytes.writeBigUInt64LE(BigInt(headerBytes), 0x20)
  bytes.writeBigUInt64LE(BigInt(sectionsAt), 0x28)
  bytes.writeUInt16LE(segmentBytes, 0x36)
  bytes.writeUInt16LE(2, 0x38)
  bytes.writeUInt16LE(sectionBytes, 0x3a)
  bytes.writeUInt16LE(sectionCount, 0x3c)
  bytes.writeUInt16LE(sectionCount - 1, 0x3e)
  return bytes
}

function segment(type: number, at: number, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(segmentBytes)
  bytes.writeUInt32LE(type, 0)
  words([at, at, at, sizeBytes, sizeBytes].map(BigInt)).copy(bytes, 8)
  return bytes
}

const section = (names: Names, name: string, at: number, sizeBytes: number): Buffer =>
  sectionOf(names.at(name), at, sizeBytes)

function sectionOf(nameAt: number, at: number, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sectionBytes)
  bytes.writeUInt32LE(nameAt, 0)
  bytes.writeUInt32LE(1, 4)
  words([at, sizeBytes].map(BigInt)).copy(bytes, 0x18)
  return bytes
}

/** The first record is the file itself. */
function verdef(all: readonly string[], names: Names): Buffer {
  return Buffer.concat(
    all.map((name, index) => {
      const bytes = Buffer.alloc(28)
      bytes.writeUInt16LE(1, 0)
      bytes.writeUInt16LE(index === 0 ? 1 : 0, 2)
      bytes.writeUInt32LE(20, 12)
      bytes.writeUInt32LE(28, 16)
      bytes.writeUInt32LE(names.at(name), 20)
      return bytes
    }),
  )
}

/** One container with a record for each, and an empty container. */
function fatbinOf(code: LibraryParts['code'] = []): Buffer {
  const records = code.map(([kind, architecture]) => {
    const bytes = Buffer.alloc(64 + 8)
    bytes.writeUInt16LE(kind, 0)
    bytes.writeUInt32LE(64, 4)
    bytes.writeBigUInt64LE(8n, 8)
    bytes.writeUInt32LE(architecture, 28)
    return bytes
  })
  const all = Buffer.concat(records)
  return code.length === 0 ? all : Buffer.concat([container(all.length), all, Buffer.alloc(16), container(0)])
}

function container(sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt32LE(0xba55ed50, 0)
  bytes.writeUInt16LE(1, 4)
  bytes.writeUInt16LE(16, 6)
  bytes.writeBigUInt64LE(BigInt(sizeBytes), 8)
  return bytes
}

const padded = (bytes: Buffer): Buffer => Buffer.concat([bytes, Buffer.alloc((8 - (bytes.length % 8)) % 8)])

function words(values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length)
  values.forEach((value, at) => bytes.writeBigUInt64LE(value, 8 * at))
  return bytes
}

/** Keyed by file name: libraries that together look like a CUDA build of ONNX Runtime. */
export function cudaBuild({ release = '1.30.0', cudaMajor = 13, code = [[2, 90]] as LibraryParts['code'] } = {}) {
  const needed = [`libcublas.so.${cudaMajor}`, `libcudart.so.${cudaMajor}`, 'libcuda.so.1', 'libc.so.6']
  const plain = (soname: string, others: readonly string[] = []): [string, Buffer] => [
    soname,
    libraryOf({ soname, needed: [...others, 'libc.so.6'] }),
  ]
  const parts = ['graph', 'ops', 'cnn', 'adv', 'heuristic', 'engines_precompiled', 'engines_runtime_compiled']
  const main = { soname: 'libonnxruntime.so.1', versions: [`VERS_${release}`], needed: ['libc.so.6'] }
  const onnxRuntime = new Map<string, Buffer>([
    [`libonnxruntime.so.${release}`, libraryOf(main)],
    ['libonnxruntime_providers_cuda.so', libraryOf({ needed, texts: ['CUDA', release, 'x'], ...(code && { code }) })],
    plain('libonnxruntime_providers_shared.so'),
  ])
  const nvidia = new Map<string, Buffer>([
    plain(`libcudart.so.${cudaMajor}`),
    plain(`libcublas.so.${cudaMajor}`, [`libcublasLt.so.${cudaMajor}`]),
    plain(`libcublasLt.so.${cudaMajor}`),
    plain(`libnvrtc.so.${cudaMajor}`),
    plain(`libnvrtc-builtins.so.${cudaMajor}.0`),
    plain('libcudnn.so.9'),
    ...parts.map((part) => plain(`libcudnn_${part}.so.9`)),
  ])
  return { onnxRuntime, nvidia }
}
