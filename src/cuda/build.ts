/**
 * The last step of a pull and of an import: the folder of the CUDA runtime is built beside its place out of the pieces,
 * examined, and takes its place in one step, so that it is installed or not, and nothing in between. What is examined
 * is what will be used: each library is read after it was written.
 */
import { rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Digest, digestFile } from '../catalog/install/digest.ts'
import type { OnEvent } from '../catalog/install/events.ts'
import { putAside } from '../catalog/install/install.ts'
import { ModelError } from '../catalog/model-error.ts'
import { makeFolder, type ModelsFolder, newPrefix, syncFolder, writeWhole } from '../catalog/models-folder.ts'
import { cannotWrite, Part } from '../catalog/install/partial-file.ts'
import type { Clock } from '../domain/time.ts'
import { type CudaSet, examineSet, onnxRuntimeLibrary, requireComplete } from './cuda-set.ts'
import { type ElfFacts, readElf } from './elf.ts'
import {
  type Evidence,
  manifestName,
  manifestText,
  placeOf,
  type RuntimeFile,
  type RuntimeManifest,
} from './installed.ts'
import { type Member, type Origin, recordedHashes, recordPattern } from './members.ts'
import { requireVersion } from './onnx-version.ts'
import type { CudaRelease } from './release.ts'
import { RuntimeError } from './runtime-error.ts'
import type { FindLibrary } from './system-libraries.ts'

export interface BuildParts {
  folder: ModelsFolder
  clock: Clock
  onEvent: OnEvent
  find: FindLibrary
  /** Asked as soon as it is known which CUDA it is; throws where that is of no use on this machine. */
  acceptMajor(cudaMajor: number): void
}

/** As it was written. */
interface Written extends RuntimeFile {
  facts: ElfFacts
}

/**
 * @param release of the program; `id` null: what is built is not what the program knows, but was imported
 * @throws RuntimeError, ModelError `bad_archive`, `disk_full`, `cannot_write`, the signal's reason; nothing is changed
 */
export async function build(
  members: readonly Member[],
  release: Omit<CudaRelease, 'id'> & { id: string | null },
  parts: BuildParts,
  signal: AbortSignal,
): Promise<RuntimeManifest> {
  const { folder, clock } = parts
  const built = join(folder.installed, newPrefix + crypto.randomUUID())
  try {
    await makeFolder(built)
    const written = await writeAll(members, built, parts, signal)
    const set = examineSet(new Map([...written].map(([name, { facts }]) => [name, facts])), parts.find)
    for (const name of set.files) requireVersion(name, join(built, name), release.onnxRuntime)
    parts.acceptMajor(set.cudaMajor)
    requireComplete(set, release.cudaMajor)
    for (const name of written.keys()) if (!set.files.includes(name)) await rm(join(built, name))
    const manifest = manifestOf(set, written, release, clock.nowMs())
    await writeWhole(join(built, manifestName), manifestText(manifest))
    await syncFolder(built)
    await putAside(folder, placeOf(folder))
    await rename(built, placeOf(folder))
    await syncFolder(folder.installed)
    return manifest
  } catch (error) {
    throw error instanceof Error && 'errno' in error ? cannotWrite(placeOf(folder), error) : error
  } finally {
    await rm(built, { recursive: true, force: true })
  }
}

const manifestOf = (
  { files, system, cudaMajor }: CudaSet,
  written: ReadonlyMap<string, Written>,
  { id, onnxRuntime }: { id: string | null; onnxRuntime: string },
  installedAtMs: number,
): RuntimeManifest => ({
  release: id,
  onnxRuntime,
  cudaMajor,
  installedAtMs,
  files: files.flatMap((name) => {
    const file = written.get(name)
    if (file === undefined) return []
    const { sizeBytes, sha256, origin, evidence } = file
    return [{ name, sizeBytes, sha256, origin, evidence }]
  }),
  system: system.map(({ name }) => name),
})

async function writeAll(
  members: readonly Member[],
  built: string,
  parts: BuildParts,
  signal: AbortSignal,
): Promise<Map<string, Written>> {
  const all = new Map<string, Written>()
  for (const origin of new Set(members.map((member) => member.origin))) {
    const own = members.filter((member) => member.origin === origin)
    for (const file of await writeOrigin(origin, own, built, parts, signal)) all.set(file.name, file)
  }
  return all
}

async function writeOrigin(
  origin: Origin,
  members: readonly Member[],
  built: string,
  parts: BuildParts,
  signal: AbortSignal,
): Promise<Written[]> {
  const byPath = new Map(members.map((member) => [member.entry.path, member]))
  const written: { path: string; file: Written }[] = []
  let record = new Map<string, string>()
  const isChosen = ({ path, sizeBytes }: { path: string; sizeBytes: number }) =>
    byPath.has(path) || (recordPattern.test(path) && sizeBytes < recordBytesMax)
  for await (const { entry, bytes } of origin.source.read(isChosen, signal)) {
    const member = byPath.get(entry.path)
    if (member === undefined) record = recordedHashes(await textOf(bytes))
    else if (member.kind === 'license') await writeLicence(origin, entry.path, await textOf(bytes), built)
    else written.push({ path: entry.path, file: await writeLibrary(member, bytes, built, parts, signal) })
  }
  return written.map(({ path, file }) => ({ ...file, evidence: evidenceOf(path, file, origin, record) }))
}

const recordBytesMax = 1 << 20

/** @throws ModelError `bad_archive` where the archive's own list says that it is another content */
function evidenceOf(path: string, file: Written, origin: Origin, record: ReadonlyMap<string, string>): Evidence {
  const recorded = record.get(path)
  if (recorded !== undefined && recorded !== file.sha256) {
    const message = `${path} in ${origin.label} is damaged: its SHA-256 differs from the one that the archive states.`
    throw new ModelError('bad_archive', message)
  }
  if (origin.sha256 !== null) return 'pinned'
  return recorded === undefined ? 'none' : 'recorded'
}

/** Under the name that the loader will look for. */
async function writeLibrary(
  { origin, entry }: Member,
  bytes: AsyncIterable<Uint8Array>,
  built: string,
  { onEvent }: BuildParts,
  signal: AbortSignal,
): Promise<Written> {
  const temporary = join(built, `${crypto.randomUUID()}.part`)
  const name = basename(entry.path)
  const part = await Part.open(temporary, null, signal)
  try {
    onEvent({ event: 'unpacking', name, sizeBytes: entry.sizeBytes })
    for await (const block of bytes) {
      signal.throwIfAborted()
      await part.append(block)
    }
    const facts = factsOf(temporary, name)
    const { sizeBytes, sha256 } = part.content()
    const called = facts.soname ?? name
    await part.keep(join(built, called))
    return { name: called, sizeBytes, sha256, origin: origin.label, evidence: 'none', facts }
  } finally {
    await part.close()
  }
}

/** @throws RuntimeError naming the library as the archive calls it, and not the file that it is in for now */
function factsOf(path: string, name: string): ElfFacts {
  try {
    const facts = readElf(path)
    const { soname } = facts
    if (soname === null || /^lib[\w.+-]+$/.test(soname)) return facts
    throw new RuntimeError(
      'bad_library',
      `${basename(path)} calls itself '${soname}', which is not the name of a library.`,
    )
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error
    throw new RuntimeError(error.code, error.message.replace(basename(path), name), { cause: error })
  }
}

async function writeLicence(origin: Origin, path: string, text: string, built: string): Promise<void> {
  const folder = join(built, 'licenses')
  await makeFolder(folder)
  const label = basename(origin.label).replace(/[^\w.-]+/g, '-')
  await writeWhole(join(folder, `${label}-${path.slice(path.lastIndexOf('/') + 1)}`), text)
}

async function textOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const blocks: Uint8Array[] = []
  for await (const block of bytes) blocks.push(block)
  return Buffer.concat(blocks).toString('utf8')
}

/** Whether every byte is as installed. @throws the signal's reason */
export async function isIntact(
  place: string,
  { files }: RuntimeManifest,
  onEvent: OnEvent,
  signal: AbortSignal,
): Promise<boolean> {
  for (const { name, sizeBytes, sha256 } of files) {
    onEvent({ event: 'checking', name, sizeBytes })
    const digest = new Digest(null)
    const isRead = await digestFile(join(place, name), digest, signal).then(
      () => true,
      (error: unknown) => {
        signal.throwIfAborted()
        if (error instanceof Error && 'code' in error) return false
        throw error
      },
    )
    if (!isRead || digest.content().sha256 !== sha256) return false
  }
  return files.some(({ name }) => name === onnxRuntimeLibrary)
}
