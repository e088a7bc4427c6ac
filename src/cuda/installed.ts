/**
 * The CUDA runtime of a data folder: `<data folder>/runtime/installed/cuda`, one flat folder with all libraries and
 * `myna.json`, whose being there makes it installed. Flat, because ONNX Runtime looks for its providers beside
 * `libonnxruntime.so.1` as it was opened, and the loader is sent to this one folder for the rest.
 */
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ModelsFolder } from '../catalog/models-folder.ts'
import { driverLibrary } from './cuda-set.ts'
import { type FindLibrary, systemLibraries } from './system-libraries.ts'

/** What a content was verified against: the program itself, the archive's own list, or nothing. */
export type Evidence = 'pinned' | 'recorded' | 'none'

export interface RuntimeFile {
  name: string
  sizeBytes: number
  sha256: string
  /** The archive or folder that it is from. */
  origin: string
  evidence: Evidence
}

export interface RuntimeManifest {
  /** The pinned release that it is; null: imported. */
  release: string | null
  onnxRuntime: string
  cudaMajor: number
  installedAtMs: number
  files: readonly RuntimeFile[]
  /** Libraries that are needed and were found on the system when it was installed. */
  system: readonly string[]
}

export const manifestName = 'myna.json'
const folderName = 'cuda'
const version = 1

/** Downloads and the installed runtime are stored like models. */
export const runtimeFolder = (dataDir: string): ModelsFolder => new ModelsFolder(join(dataDir, 'runtime'))

export const placeOf = (folder: ModelsFolder): string => folder.model(folderName)

export function manifestText({ files, ...manifest }: RuntimeManifest): string {
  const written = {
    version,
    release: manifest.release,
    onnx_runtime: manifest.onnxRuntime,
    cuda_major: manifest.cudaMajor,
    installed_at_ms: manifest.installedAtMs,
    system: manifest.system,
    files: files.map(({ sizeBytes, ...file }) => ({ ...file, size_bytes: sizeBytes })),
  }
  return `${JSON.stringify(written, null, 2)}\n`
}

/** null: there is none, or it cannot be read. */
export function readManifest(place: string): RuntimeManifest | null {
  try {
    return parse(JSON.parse(readFileSync(join(place, manifestName), 'utf8')))
  } catch {
    return null
  }
}

function parse(value: unknown): RuntimeManifest | null {
  const fields = value as Record<string, unknown>
  const { onnx_runtime: onnxRuntime, cuda_major: cudaMajor, installed_at_ms: installedAtMs, release } = fields
  if (fields.version !== version || typeof onnxRuntime !== 'string' || typeof cudaMajor !== 'number') return null
  if (typeof installedAtMs !== 'number' || !Array.isArray(fields.files) || !Array.isArray(fields.system)) return null
  if (release !== null && typeof release !== 'string') return null
  const files = fields.files.map(parseFile)
  const system = fields.system.filter((name): name is string => typeof name === 'string')
  if (!files.every((file) => file !== null)) return null
  return { release, onnxRuntime, cudaMajor, installedAtMs, files, system }
}

function parseFile(value: unknown): RuntimeFile | null {
  const { name, size_bytes: sizeBytes, sha256, origin, evidence } = value as Record<string, unknown>
  if (typeof name !== 'string' || name.includes('/') || typeof sizeBytes !== 'number') return null
  if (typeof sha256 !== 'string' || typeof origin !== 'string') return null
  if (evidence !== 'pinned' && evidence !== 'recorded' && evidence !== 'none') return null
  return { name, sizeBytes, sha256, origin, evidence }
}

/** Files that are missing, have another size, or are no longer on the system. Reads no contents. */
export function faultsOf(place: string, { files, system }: RuntimeManifest, find: FindLibrary): string[] {
  const gone = files.flatMap(({ name, sizeBytes }) => {
    const size = statSync(join(place, name), { throwIfNoEntry: false })?.size
    if (size === undefined) return [`${name} is missing`]
    return size === sizeBytes ? [] : [`${name} has ${size} bytes instead of ${sizeBytes}`]
  })
  return [...gone, ...system.filter((name) => find(name) === null).map((name) => `${name} is no longer on the system`)]
}

/** Driver folders that the loader does not know: WSL, NixOS, and containers of Kubernetes and gVisor. */
const driverFolders = [
  '/usr/lib/wsl/lib',
  '/run/opengl-driver/lib',
  '/usr/local/nvidia/lib64',
  '/usr/local/nvidia/lib',
  '/usr/lib64/nvidia',
]

/** @param root of the file system; another one in tests */
export function driverPath(root = '/', find: FindLibrary = systemLibraries(root)): string | null {
  const others = driverFolders.map((folder) => join(root, folder, driverLibrary))
  return find(driverLibrary) ?? others.find((path) => statSync(path, { throwIfNoEntry: false }) !== undefined) ?? null
}

export interface CudaRuntime {
  /** Holds everything. */
  dir: string
  /** LD_LIBRARY_PATH of a process that is to use it. The loader reads it at the start of a process only. */
  libraryPath: string
  cudaMajor: number
}

/**
 * For the wiring of engines: the installed CUDA build of ONNX Runtime, if it is complete and of the right release.
 * Nothing is loaded. Whether there is a driver and a device is another question (`gpu-probe.ts`).
 * @param onnxRuntime the release that the CUDA build must be of
 * @param given the LD_LIBRARY_PATH that this process has; empty: none
 */
export function cudaRuntime(
  dataDir: string,
  onnxRuntime: string,
  given = '',
  root = '/',
): CudaRuntime | { missing: string } {
  const place = placeOf(runtimeFolder(dataDir))
  const manifest = readManifest(place)
  if (manifest === null) {
    return { missing: 'the CUDA build of ONNX Runtime is not installed: myna runtime pull cuda brings it' }
  }
  if (manifest.onnxRuntime !== onnxRuntime) {
    const what = `the installed CUDA build is of ONNX Runtime ${manifest.onnxRuntime}`
    return { missing: `${what}, and this program needs ${onnxRuntime}: myna runtime pull cuda brings the right one` }
  }
  const find = systemLibraries(root)
  const [fault] = faultsOf(place, manifest, find)
  if (fault !== undefined) {
    return { missing: `the CUDA build of ONNX Runtime is damaged (${fault}): myna runtime pull cuda mends it` }
  }
  // Folders of the system itself, put before others, would change what other libraries find.
  const driver = find(driverLibrary) === null ? driverPath(root, find) : null
  const folders = [place, ...(driver === null ? [] : [dirname(driver)])]
  const libraryPath = [...folders, ...given.split(':').filter((folder) => folder !== '')].join(':')
  return { dir: place, libraryPath, cudaMajor: manifest.cudaMajor }
}
