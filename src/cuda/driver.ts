/**
 * Reads what files reveal about NVIDIA's driver, without loading any of it: a broken driver can crash the process that
 * loads it, and that must never be the server. The version of the kernel module is in `/proc`, that of the library in
 * its file name, and opening a device shows whether it may be opened.
 */
import { closeSync, constants, existsSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { driverPath } from './installed.ts'
import { oldestDriver, runsCuda } from './release.ts'
import { namesBeneath } from './system-libraries.ts'

export interface DriverFacts {
  /** Version of the kernel's module, such as `580.159.04`; null: none is loaded. */
  kernel: string | null
  /** libcuda.so.1; null: the loader would not find it. */
  library: { path: string; version: string | null } | null
  /** `/dev/nvidia0` and its like; `error` null: it can be opened. */
  devices: readonly { path: string; error: string | null }[]
  /** Windows' own driver serves Linux there. */
  isWsl: boolean
  /** The kind of container; null: none. */
  container: string | null
  /** A card of NVIDIA's is plugged in. */
  hasCard: boolean
}

/** What prevents the driver from working, and the remedy. */
export interface Trouble {
  message: string
  remedy: string
}

const versionPattern = /\b\d{3,}\.\d+(?:\.\d+)?\b/

/** @param root of the file system; another one in tests */
export function examineDriver(root = '/'): DriverFacts {
  const path = driverPath(root)
  const device = join(root, 'dev')
  const names = namesBeneath(device).filter((name) => /^nvidia(\d+|ctl|-uvm)$/.test(name))
  return {
    kernel: versionPattern.exec(textOf(join(root, 'proc/driver/nvidia/version')))?.[0] ?? null,
    library: path === null ? null : { path, version: libraryVersion(path) },
    devices: names.sort().map((name) => ({ path: `/dev/${name}`, error: openingError(join(device, name)) })),
    isWsl: existsSync(join(device, 'dxg')),
    container: containerOf(root),
    hasCard: namesBeneath(join(root, 'sys/bus/pci/devices')).some((name) =>
      isCard(join(root, 'sys/bus/pci/devices', name)),
    ),
  }
}

/** Version of the driver as a whole; null: there is none, or it does not say. */
export const driverVersion = (facts: DriverFacts): string | null =>
  (isForward(facts) ? null : facts.kernel) ?? facts.library?.version ?? null

/**
 * An image may bring a library that is newer than the driver of the host and works with it, on cards of data centers
 * (CUDA forward compatibility). Whether it does here, only the library itself can say (`gpu-probe.ts`).
 */
function isForward({ kernel, library, container }: DriverFacts): boolean {
  if (container === null || kernel === null || library === null || library.version === null) return false
  return library.version.localeCompare(kernel, 'en', { numeric: true }) > 0
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** The file is called `libcuda.so.580.159.04`, and the name for the loader is a link to it. */
function libraryVersion(path: string): string | null {
  try {
    return versionPattern.exec(basename(realpathSync(path)))?.[0] ?? null
  } catch {
    return null
  }
}

function openingError(path: string): string | null {
  try {
    closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK))
    return null
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  }
}

function containerOf(root: string): string | null {
  if (existsSync(join(root, 'run/.containerenv'))) return 'Podman'
  if (existsSync(join(root, 'var/run/secrets/kubernetes.io'))) return 'Kubernetes'
  return existsSync(join(root, '.dockerenv')) ? 'Docker' : null
}

/** NVIDIA, and a display or 3D controller. Source: PCI code and ID assignment specification, class 03h. */
const isCard = (place: string): boolean =>
  textOf(join(place, 'vendor')).trim() === '0x10de' && textOf(join(place, 'class')).startsWith('0x03')

/** From inside a container it is not visible whether the host has a card. */
const inContainer = (what: string, { container }: DriverFacts): Trouble => ({
  message: `${what} in this ${container ?? ''} container`,
  remedy:
    'If the host has a card: install the NVIDIA Container Toolkit there and start the container with --gpus all ' +
    '(Kubernetes: request nvidia.com/gpu).',
})

const drivers = 'https://www.nvidia.com/drivers, or the package nvidia-driver-580 of Ubuntu and Debian'

/**
 * The first problem, in the order in which they must be fixed.
 * @param cudaMajor of the runtime that should work; null: any
 */
export function driverTrouble(facts: DriverFacts, cudaMajor: number | null): Trouble | null {
  const { kernel, library, isWsl, container } = facts
  if (kernel === null && library === null) return noDriver(facts)
  if (library === null) {
    const what = `the kernel has NVIDIA driver ${kernel}, and there is no libcuda.so.1`
    if (container !== null) return inContainer(what, facts)
    return {
      message: what,
      remedy: "Install the driver's CUDA library (Debian: libcuda1, Ubuntu: libnvidia-compute-580).",
    }
  }
  // If the kernel is not Linux itself (gVisor), devices work without that file.
  if (kernel === null && !isWsl && facts.devices.length === 0) {
    const message = `${library.path} exists, but the kernel has not loaded NVIDIA's module`
    if (container !== null) return { message, remedy: 'Install or start the driver on the host.' }
    return { message, remedy: 'Load it: sudo modprobe nvidia; if that fails, reinstall the driver, or restart.' }
  }
  if (kernel !== null && library.version !== null && library.version !== kernel && !isWsl && !isForward(facts)) {
    const message = `the kernel has NVIDIA driver ${kernel}, but libcuda.so.1 is version ${library.version}`
    return { message, remedy: 'The driver was updated while it was running: restart the machine (or the container).' }
  }
  return isWsl ? tooOld(facts, cudaMajor) : (deviceTrouble(facts) ?? tooOld(facts, cudaMajor))
}

function noDriver(facts: DriverFacts): Trouble {
  if (facts.container !== null) return inContainer('there is no NVIDIA driver', facts)
  if (facts.hasCard) return { message: 'there is an NVIDIA card, but no driver', remedy: `Install one: ${drivers}.` }
  return { message: 'no NVIDIA driver, and no NVIDIA card', remedy: 'CUDA needs an NVIDIA card.' }
}

function deviceTrouble(facts: DriverFacts): Trouble | null {
  const { devices, container, kernel } = facts
  const cards = devices.filter(({ path }) => /\d$/.test(path))
  if (cards.length === 0) {
    const what = `NVIDIA driver ${kernel} is loaded, but there is no /dev/nvidia0`
    if (container !== null) return inContainer(what, facts)
    return { message: what, remedy: 'Create the device files: sudo nvidia-modprobe -u -c 0' }
  }
  const closed = devices.find(({ error }) => error !== null)
  if (closed === undefined) return null
  const message = `${closed.path} cannot be opened (${closed.error})`
  if (closed.error === 'EPERM' && container !== null) {
    return { message, remedy: 'The host took the device away from this container: restart the container.' }
  }
  if (closed.error === 'EACCES' || closed.error === 'EPERM') {
    return {
      message,
      remedy: `Add the user who runs Myna to its group (ls -l ${closed.path} shows it): sudo usermod -aG GROUP USER`,
    }
  }
  return { message, remedy: 'Look at the output of nvidia-smi; sudo dmesg reports faults of the card.' }
}

function tooOld(facts: DriverFacts, cudaMajor: number | null): Trouble | null {
  const version = driverVersion(facts)
  const oldest = cudaMajor === null ? null : oldestDriver(cudaMajor)
  if (version === null || cudaMajor === null || oldest === null || runsCuda(version, cudaMajor)) return null
  return {
    message: `NVIDIA driver ${version} is too old: CUDA ${cudaMajor} needs ${oldest} or newer`,
    remedy: `Update it: ${drivers}. Or import a build of ONNX Runtime for an older CUDA.`,
  }
}
