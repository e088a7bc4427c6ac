/**
 * The truth about CUDA on this machine: what is installed, what the driver is and shows, and, in one sentence, whether
 * models can run there, or why not and what to do. Driver first, then the runtime: without the one the other is of no
 * use.
 */
import { join } from 'node:path'
import { provider } from './cuda-set.ts'
import { type DriverFacts, driverTrouble, driverVersion, examineDriver, type Trouble } from './driver.ts'
import { capabilityText, type GpuCode, readGpuCode, runsOn } from './gpu-code.ts'
import type { Probe } from './gpu-probe.ts'
import { faultsOf, placeOf, readManifest, type RuntimeManifest, runtimeFolder } from './installed.ts'
import { oldestDriver } from './release.ts'
import { systemLibraries } from './system-libraries.ts'

export interface RuntimeStatus {
  /** Release of ONNX Runtime inside the program, for the CPU. */
  onnxRuntime: string
  /** Release of ONNX Runtime that a CUDA build must be of. */
  cudaOnnxRuntime: string
  installed: InstalledRuntime | null
  driver: DriverFacts & { version: string | null }
  /** null: the driver was not asked, for files already show that it cannot answer. */
  probe: Probe | null
  /** What prevents the use of CUDA; null: nothing known. */
  trouble: Trouble | null
}

export interface InstalledRuntime {
  path: string
  manifest: RuntimeManifest
  sizeBytes: number
  /** What is missing or damaged, in words. */
  faults: readonly string[]
  /** The cards it has code for; null: cannot be read. */
  gpuCode: GpuCode | null
  /** Branch of the oldest driver; null: nothing is known of such a CUDA. */
  oldestDriver: number | null
}

export interface StatusParts {
  dataDir: string
  onnxRuntime: string
  cudaOnnxRuntime: string
  /** Root of the file system; another one in tests. */
  root: string
  /** Asks the driver in a process of its own. @param library where libcuda.so.1 is */
  probe(library: string): Promise<Probe>
}

export async function runtimeStatus(parts: StatusParts): Promise<RuntimeStatus> {
  const { dataDir, onnxRuntime, cudaOnnxRuntime, root, probe } = parts
  const installed = installedRuntime(dataDir, root)
  const facts = examineDriver(root)
  const driver = { ...facts, version: driverVersion(facts) }
  const broken = driverTrouble(facts, installed?.manifest.cudaMajor ?? null)
  const answer = broken === null && facts.library !== null ? await probe(facts.library.path) : null
  const trouble =
    broken ?? probeTrouble(answer) ?? runtimeTrouble(installed, cudaOnnxRuntime) ?? codeTrouble(installed, answer)
  return { onnxRuntime, cudaOnnxRuntime, installed, driver, probe: answer, trouble }
}

function installedRuntime(dataDir: string, root: string): InstalledRuntime | null {
  const path = placeOf(runtimeFolder(dataDir))
  const manifest = readManifest(path)
  if (manifest === null) return null
  return {
    path,
    manifest,
    sizeBytes: manifest.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    faults: faultsOf(path, manifest, systemLibraries(root)),
    gpuCode: gpuCodeOf(join(path, provider)),
    oldestDriver: oldestDriver(manifest.cudaMajor),
  }
}

function gpuCodeOf(path: string): GpuCode | null {
  try {
    return readGpuCode(path)
  } catch {
    return null
  }
}

const probeTrouble = (probe: Probe | null): Trouble | null =>
  probe?.error == null ? null : { message: probe.error, remedy: probe.remedy ?? 'See what nvidia-smi says.' }

const pull = 'myna runtime pull cuda'

function runtimeTrouble(installed: InstalledRuntime | null, needed: string): Trouble | null {
  if (installed === null) {
    return { message: 'the CUDA build of ONNX Runtime is not installed', remedy: `Install it: ${pull}` }
  }
  const { manifest, faults } = installed
  if (manifest.onnxRuntime !== needed) {
    const message = `the CUDA build is of ONNX Runtime ${manifest.onnxRuntime}, and this program needs ${needed}`
    return { message, remedy: `Get the right one: ${pull}` }
  }
  if (faults.length === 0) return null
  return { message: `the CUDA build of ONNX Runtime is incomplete: ${faults.join(', ')}`, remedy: `Fix it: ${pull}` }
}

/** Cards that are there, and none of them one for which the provider has code. */
function codeTrouble(installed: InstalledRuntime | null, probe: Probe | null): Trouble | null {
  const code = installed?.gpuCode ?? null
  if (code === null || probe === null || code.machine.length + code.portable.length === 0) return null
  if (probe.gpus.some(({ capability }) => runsOn(code, capability))) return null
  const cards = probe.gpus.map(({ name, capability }) => `${name} (${capabilityText([capability])})`).join(', ')
  const message = `this build of ONNX Runtime has no code for ${cards}, only for compute capability ${codeText(code)}`
  const older = probe.gpus.some(({ capability }) => capability < Math.min(...code.machine, ...code.portable))
  const remedy = older
    ? 'Import the build for CUDA 12, which has code for older cards: myna runtime import --help'
    : 'Models run on the CPU until there is a build for this card; a build of your own can be imported.'
  return { message, remedy }
}

/** `7.5, 8.0, 9.0`, and from where on any. */
export function codeText({ machine, portable }: GpuCode): string {
  const [first] = portable
  return first === undefined
    ? capabilityText(machine)
    : `${capabilityText(machine)}, and from ${capabilityText([first])} on`
}
