/** `myna runtime status`: what is installed, what the driver is, and whether models can run on a card. */
import { Command } from 'commander'
import { codeText, type RuntimeStatus } from '../../cuda/status.ts'
import { gpuText } from '../doctor/gpu.ts'
import { bytes, count, day } from '../terminal/format.ts'
import { globalsOf } from '../globals.ts'
import { gpuStatus } from '../serve/gpu-probe.ts'
import { green, report, yellow } from '../terminal/terminal.ts'

export const runtimeStatusCommand = (): Command =>
  new Command('status')
    .description('show what is installed, the driver, and whether models can run on a card')
    .action(async (_options, command: Command) => {
      const { json, config } = globalsOf(command)
      const status = await gpuStatus(config)
      report(json, { ...status, isUsable: status.trouble === null }, () => statusText(status))
    })

export function statusText(status: RuntimeStatus): string {
  const facts = [
    ['Program', `ONNX Runtime ${status.onnxRuntime}, for the CPU`],
    ...runtimeFacts(status),
    ...driverFacts(status),
  ]
  const lines = facts.map(([name = '', value = '']) => `${name.padEnd(11)}${value}`)
  return [...lines, '', ...verdict(status)].join('\n')
}

function runtimeFacts({ installed }: RuntimeStatus): string[][] {
  if (installed === null) return [['CUDA build', 'not installed']]
  const { manifest, path, sizeBytes, faults, gpuCode, oldestDriver } = installed
  const { files, system, onnxRuntime, cudaMajor, installedAtMs } = manifest
  const origins = [...new Set(files.map(({ origin }) => origin))]
  return [
    ['CUDA build', `ONNX Runtime ${onnxRuntime} for CUDA ${cudaMajor}`],
    ['', `${count(files.length)} libraries, ${bytes(sizeBytes)} in ${path}, since ${day(installedAtMs)}`],
    ...origins.map((origin, at) => ['', `${at === 0 ? 'from ' : '     '}${origin}`]),
    ...(system.length === 0 ? [] : [['', `and from the system: ${system.join(', ')}`]]),
    ...(gpuCode === null ? [] : [['Cards', `compute capability ${codeText(gpuCode)}`]]),
    ...(oldestDriver === null ? [] : [['', `with driver ${oldestDriver} or newer`]]),
    ...faults.map((fault) => ['Fault', fault]),
  ]
}

function driverFacts({ driver, probe }: RuntimeStatus): string[][] {
  const where = driver.library === null ? 'no libcuda.so.1' : driver.library.path
  const cuda = probe?.cuda == null ? '' : `, for CUDA up to ${probe.cuda}`
  return [
    ['Driver', driver.version === null ? 'none' : `NVIDIA ${driver.version}${cuda}, ${where}`],
    ...driver.devices.filter(({ error }) => error !== null).map(({ path, error }) => ['', `${path}: ${error}`]),
    ...(driver.container === null ? [] : [['Container', driver.container]]),
    ...(probe?.gpus ?? []).map((gpu, at) => [at === 0 ? 'Devices' : '', gpuText(gpu)]),
  ]
}

const verdict = ({ trouble }: RuntimeStatus): string[] =>
  trouble === null
    ? [`${green('CUDA can be used.')} Each model's results are checked when an engine starts.`]
    : [`${yellow('CUDA is not used:')} ${trouble.message}.`, `  -> ${trouble.remedy}`]
