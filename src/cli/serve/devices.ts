/**
 * Decides which devices engines run on: what was requested, and what this machine has. `auto` uses graphics cards if
 * it can, and says why if it cannot; a card requested by name is used, or refused.
 */
import type { CpuDevice, CudaDevice } from './engine.ts'
import type { EngineStatus } from '../../service/ports/engines.ts'
import { bytes } from '../terminal/format.ts'
import { Failure } from '../terminal/terminal.ts'

/** The CUDA build of ONNX Runtime with its libraries, on a machine with a driver and cards for it. */
export type Cuda =
  | {
      /** Holds ONNX Runtime and its CUDA provider. */
      dir: string
      /** LD_LIBRARY_PATH of a process that is to use them. */
      libraryPath: string
      /** How many CUDA shows to a process that is started now: those of CUDA_VISIBLE_DEVICES, if set. */
      cards: number
    }
  /** What is missing, and how to get it. */
  | Missing

interface Missing {
  missing: string
  /** A sentence. */
  remedy: string
}

export type DeviceWish = { kind: 'auto' } | { kind: 'cpu' } | { kind: 'cuda'; id: number | null }

/** The devices of engines: one engine per task on each. At least one. */
export type Devices =
  | { kind: 'cpu'; devices: readonly [CpuDevice] }
  | {
      kind: 'cuda'
      devices: readonly CudaDevice[]
      libraryPath: string
      /** Whether an engine may use the CPU instead if the self-test fails on its card. */
      mayFallBack: boolean
    }

/** @throws Failure naming what there is to choose from */
export function parseDevice(text: string): DeviceWish {
  if (text === 'auto' || text === 'cpu') return { kind: text }
  if (text === 'cuda') return { kind: 'cuda', id: null }
  const [, id] = /^cuda:(\d{1,3})$/.exec(text) ?? []
  if (id !== undefined) return { kind: 'cuda', id: Number(id) }
  throw new Failure(`--device ${text}: must be auto, cpu, cuda or cuda:N`, 'bad_setting')
}

/**
 * @param find looks for CUDA, if requested
 * @throws Failure if a card was requested by name and is not available
 */
export async function chooseDevices(device: string, tf32: boolean, find: () => Promise<Cuda>): Promise<Devices> {
  const wish = parseDevice(device)
  if (wish.kind === 'cpu') return onCpu(null)
  const found = cudaDevices(wish.kind === 'cuda' ? wish.id : null, tf32, await find())
  if (!('missing' in found)) return { kind: 'cuda', ...found, mayFallBack: wish.kind === 'auto' }
  if (wish.kind === 'auto') return onCpu(found.missing)
  throw new Failure(`--device ${device} is not available: ${found.missing}. ${found.remedy}`, 'no_device')
}

const onCpu = (reason: string | null): Devices => ({ kind: 'cpu', devices: [{ kind: 'cpu', reason }] })

type Found = { devices: readonly CudaDevice[]; libraryPath: string } | Missing

/** @param id null: all cards */
function cudaDevices(id: number | null, tf32: boolean, cuda: Cuda): Found {
  if ('missing' in cuda) return cuda
  const { dir, libraryPath, cards } = cuda
  const all = Array.from({ length: cards }, (_, at): CudaDevice => ({ kind: 'cuda', id: at, dir, tf32 }))
  const devices = id === null ? all : all.slice(id, id + 1)
  if (devices.length > 0) return { devices, libraryPath }
  const missing =
    cards === 0 ? 'the driver reports no card' : `there is no card ${id}: the driver reports ${cards}, counted from 0`
  return { missing, remedy: 'CUDA_VISIBLE_DEVICES may hide some; see myna runtime status.' }
}

/**
 * For people, one line per device: what is used, and the reason if it was not requested.
 * @param engines of one task, started if cards are to be used
 */
export function describeDevices(devices: Devices, engines: readonly EngineStatus[]): string[] {
  if (devices.kind === 'cpu') return devices.devices.map(({ reason }) => withReason('cpu', reason))
  return engines.map(({ device, deviceReason, deviceMemory }) =>
    deviceMemory === null
      ? withReason(device, deviceReason)
      : `${device} (${bytes(deviceMemory.totalBytes)}, ${bytes(deviceMemory.usedBytes)} in use)`,
  )
}

const withReason = (device: string, reason: string | null): string =>
  reason === null ? device : `${device} (${reason})`
