/**
 * Installs the CUDA build of ONNX Runtime: `pull` from the package index, `import` from files. Both end in `build`.
 * Downloads are removed once they are unpacked: they are as large as their contents.
 */
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { download, type DownloadParts } from '../catalog/install/download.ts'
import { holdAll } from '../catalog/install/existing.ts'
import { type Lock, withLock } from '../catalog/install/lock.ts'
import { inParallel } from '../catalog/install/parallel.ts'
import { prepare, type RoomParts } from '../catalog/install/disk-space.ts'
import { openSource } from '../catalog/install/source.ts'
import { sweepBlobs, sweepFolders } from '../catalog/install/sweep.ts'
import { knownOf, type Wanted } from '../catalog/install/required.ts'
import { build, type BuildParts, isIntact } from './build.ts'
import { faultsOf, placeOf, readManifest, type RuntimeManifest } from './installed.ts'
import { findMembers, type Origin } from './members.ts'
import { type CudaArchive, type CudaRelease, oldestDriver, runsCuda } from './release.ts'
import { RuntimeError } from './runtime-error.ts'
import type { FindLibrary } from './system-libraries.ts'

/** Archives that come at the same time. */
const archivesAtOnce = 3

export interface ImportParts extends Omit<BuildParts, 'acceptMajor'>, RoomParts {
  folder: BuildParts['folder']
  timer: DownloadParts['timer']
  lock: Lock
  find: FindLibrary
  /** Version of the driver here, `580.159.04`; null: there is none, or it does not matter. */
  driver: string | null
}

export interface PullParts extends ImportParts, Omit<DownloadParts, 'folder'> {}

export interface Brought {
  manifest: RuntimeManifest
  path: string
  /** All was here and whole: nothing had to be done. */
  wasWhole: boolean
}

/** @throws RuntimeError, ModelError, the signal's reason; then nothing is installed, and what has arrived is kept */
export async function pullCuda(release: CudaRelease, parts: PullParts, signal: AbortSignal): Promise<Brought> {
  const { folder, onEvent } = parts
  acceptor(parts, release)(release.cudaMajor)
  await folder.make()
  return withLock(parts, signal, async () => {
    await sweepFolders(folder)
    const path = placeOf(folder)
    const before = readManifest(path)
    const isSame = before?.release === release.id && faultsOf(path, before, parts.find).length === 0
    if (isSame && (await isIntact(path, before, onEvent, signal))) return { manifest: before, path, wasWhole: true }
    const wanted = release.archives.map(wantedOf)
    const held = await holdAll('cuda', wanted, parts, signal)
    const missing = wanted.filter(({ blob }) => !held.has(blob))
    const unpackedBytes = release.archives.reduce((sum, archive) => sum + archive.unpackedBytes, 0)
    await prepare(wanted, missing, parts, unpackedBytes)
    await inParallel(missing, archivesAtOnce, signal, (one, ending) => download(one, parts, ending))
    const origins = await Promise.all(
      release.archives.map(async ({ name, sha256 }): Promise<Origin> => {
        return { label: name, source: await openSource(folder.blob(sha256)), sha256 }
      }),
    )
    const members = await findMembers(origins, signal)
    const manifest = await build(members, release, { ...parts, acceptMajor: () => {} }, signal)
    for (const { sha256 } of release.archives) rmSync(folder.blob(sha256), { force: true })
    await sweepBlobs(folder, parts.clock.nowMs())
    return { manifest, path, wasWhole: false }
  })
}

/** As the catalog needs it, with the readable name in place of the repository. */
const wantedOf = ({ name, path, sizeBytes, sha256 }: CudaArchive): Wanted =>
  knownOf({ name, repo: name, revision: '', path: basename(path), sizeBytes, sha256 }, null)

/**
 * @param paths archives (.whl, .nupkg, .zip, .tar.gz), folders with libraries, and folders with such archives
 * @throws RuntimeError, ModelError `no_such_source`, `bad_archive`, `disk_full`, the signal's reason; then nothing is
 * changed
 */
export async function importCuda(
  release: CudaRelease,
  paths: readonly string[],
  parts: ImportParts,
  signal: AbortSignal,
): Promise<Brought> {
  const { folder } = parts
  const origins = await Promise.all(
    paths.flatMap(withArchives).map(async (path): Promise<Origin> => {
      return { label: path, source: await openSource(path), sha256: null }
    }),
  )
  const members = await findMembers(origins, signal)
  await folder.make()
  return withLock(parts, signal, async () => {
    await sweepFolders(folder)
    const unpackedBytes = members.reduce((sum, { entry }) => sum + entry.sizeBytes, 0)
    await prepare([], [], parts, unpackedBytes)
    const own = { ...release, id: null }
    const manifest = await build(members, own, { ...parts, acceptMajor: acceptor(parts, release) }, signal)
    return { manifest, path: placeOf(folder), wasWhole: false }
  })
}

/** A folder of downloads is gone through archive by archive, too. */
function withArchives(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path]
  const archives = readdirSync(path).filter((name) => /\.(whl|nupkg|zip|tgz|tar|tar\.gz)$/.test(name))
  return [path, ...archives.sort().map((name) => join(path, name))]
}

/** @throws RuntimeError `old_driver` where the driver here cannot run such a CUDA */
const acceptor =
  ({ driver }: Pick<ImportParts, 'driver'>, { onnxRuntime }: CudaRelease) =>
  (cudaMajor: number): void => {
    const oldest = oldestDriver(cudaMajor)
    if (driver === null || oldest === null || runsCuda(driver, cudaMajor)) return
    const archive = `onnxruntime-linux-x64-gpu_cuda12-${onnxRuntime}.tgz`
    const other =
      cudaMajor === 13 && runsCuda(driver, 12)
        ? ` Or import the build for CUDA 12: ${archive} of the release on GitHub, and the packages nvidia-...-cu12.`
        : ''
    throw new RuntimeError(
      'old_driver',
      `The NVIDIA driver here is ${driver}, and CUDA ${cudaMajor} needs ${oldest} or newer. Update the ` +
        `driver.${other} Use --force to install it anyway.`,
    )
  }
