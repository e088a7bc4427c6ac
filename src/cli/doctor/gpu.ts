/** `myna doctor` on the graphics card: driver and devices, and the CUDA build of ONNX Runtime. */
import { driverTrouble } from '../../cuda/driver.ts'
import { capabilityText } from '../../cuda/gpu-code.ts'
import type { Gpu } from '../../cuda/gpu-probe.ts'
import type { RuntimeStatus } from '../../cuda/status.ts'
import { type Found, noted, ok, warning } from './finding.ts'
import { bytes } from '../terminal/format.ts'

export const gpuText = ({ index, name, memoryBytes, capability }: Gpu): string =>
  `cuda:${index} ${name}, ${bytes(memoryBytes)}, compute capability ${capabilityText([capability])}`

/** A machine without a card is a healthy one. */
export function checkDriver({ driver, installed, probe }: RuntimeStatus): Found {
  const isWanted = driver.kernel !== null || driver.hasCard || driver.library !== null || installed !== null
  const trouble = driverTrouble(driver, installed?.manifest.cudaMajor ?? null)
  if (trouble !== null) {
    const state = isWanted ? warning : noted
    return state(`${trouble.message}: models run on the CPU`, trouble.remedy)
  }
  const version = `NVIDIA driver ${driver.version ?? 'of an unknown version'}`
  if (probe === null) return ok(version)
  if (probe.error !== null)
    return warning(`${version}: ${probe.error}`, probe.remedy ?? 'Look at the output of nvidia-smi.')
  return ok(`${version}, for CUDA up to ${probe.cuda}; ${probe.gpus.map(gpuText).join('; ')}`)
}

/** Whether the runtime fits, and why CUDA can or cannot be used. */
export function checkRuntime({ installed, driver, probe, trouble, cudaOnnxRuntime }: RuntimeStatus): Found {
  const isDriverFine = driverTrouble(driver, installed?.manifest.cudaMajor ?? null) === null && probe?.error === null
  if (installed === null) {
    const what = 'the CUDA build of ONNX Runtime is not installed'
    if (!isDriverFine) return noted(`${what}, and would not help here yet`)
    return warning(`${what}: models run on the CPU`, 'Install it: myna runtime pull cuda')
  }
  const { manifest, sizeBytes } = installed
  const what = `ONNX Runtime ${manifest.onnxRuntime} for CUDA ${manifest.cudaMajor}, ${bytes(sizeBytes)}`
  if (trouble === null) return ok(`${what}, complete, and of the release that this program needs`)
  const isWhole = installed.faults.length === 0 && manifest.onnxRuntime === cudaOnnxRuntime
  if (isWhole && !isDriverFine) return noted(`${what}, complete; it waits for the driver`)
  return warning(`${trouble.message}: models run on the CPU`, trouble.remedy)
}
