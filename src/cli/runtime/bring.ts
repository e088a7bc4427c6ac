/** `myna runtime pull` and `myna runtime import`: install the CUDA build and show progress. */
import { basename, join, resolve } from 'node:path'
import { Command } from 'commander'
import { version } from '../../../package.json' with { type: 'json' }
import type { OnEvent } from '../../catalog/install/events.ts'
import { Hub } from '../../catalog/install/hub.ts'
import type { Config } from '../../config.ts'
import { systemTimer } from '../../domain/time.ts'
import { tryFileLock } from '../../store/lock.ts'
import { type Brought, importCuda, pullCuda, type PullParts } from '../../cuda/bring.ts'
import { driverVersion, examineDriver } from '../../cuda/driver.ts'
import { runtimeFolder } from '../../cuda/installed.ts'
import { cudaLicense, cudaRelease } from '../../cuda/release.ts'
import { RuntimeError } from '../../cuda/runtime-error.ts'
import { systemLibraries } from '../../cuda/system-libraries.ts'
import { serverStatus } from '../administration.ts'
import { bytes, count } from '../terminal/format.ts'
import { globalsOf } from '../globals.ts'
import { gpuStatus } from '../serve/gpu-probe.ts'
import { installationParts, interruptible } from '../models/local.ts'
import { displayFor } from '../models/progress.ts'
import { requireCuda } from './name.ts'
import { Failure, note, snakeCase } from '../terminal/terminal.ts'

const answerMs = 60_000
const release = cudaRelease.onnxRuntime

export const runtimePullCommand = (): Command =>
  new Command('pull')
    .description('download the CUDA build of ONNX Runtime and the CUDA libraries it needs')
    .argument('<name>', 'cuda')
    .option('--force', 'even if the driver here cannot use it')
    .addHelpText(
      'after',
      `
Downloads about 1.2 GB from the Python package index, each file verified by hash; 1.6 GB
installed. Ctrl-C keeps what has arrived. MYNA_RUNTIME_MIRROR names a mirror of
https://files.pythonhosted.org. With --json, one line per event.

The CUDA libraries are NVIDIA's, on NVIDIA's terms: https://docs.nvidia.com/cuda/eula/`,
    )
    .action((name: string, { force = false }: { force?: boolean }, command: Command) => {
      requireCuda(name)
      return bring(
        command,
        force,
        'Stopped. The partial download is kept; resume with: myna runtime pull cuda',
        (parts, signal) => pullCuda(cudaRelease, parts, signal),
      )
    })

export const runtimeImportCommand = (): Command =>
  new Command('import')
    .description('install the CUDA build of ONNX Runtime from files')
    .argument('<paths...>', 'archives (.whl, .nupkg, .tgz, .zip), folders of libraries, folders of such archives')
    .option('--force', 'even if the driver here cannot use it')
    .addHelpText(
      'after',
      `
For machines without a network, and for other builds of exactly the same release, such as
that for CUDA 12. Everything that belongs together is named in one command:

  onnxruntime-linux-x64-gpu_cuda12-${release}.tgz (release of ONNX Runtime on GitHub), or
  onnxruntime_gpu-${release}-...whl, or Microsoft.ML.OnnxRuntime.Gpu.Linux.${release}.nupkg
  and NVIDIA's libraries: wheels, redistributable archives, or folders of a toolkit

On a machine with a network, these wheels are what pull cuda brings:
${cudaRelease.archives.map(({ name }) => `  pip download --no-deps ${name.replace(' ', '==')}`).join('\n')}`,
    )
    .action((paths: string[], { force = false }: { force?: boolean }, command: Command) =>
      bring(command, force, 'Stopped. Nothing was installed.', (parts, signal) =>
        importCuda(
          cudaRelease,
          paths.map((path) => resolve(path)),
          parts,
          signal,
        ),
      ),
    )

/**
 * What is needed to change the installed runtime.
 * @param force ignore the driver here
 * @throws Failure if MYNA_RUNTIME_MIRROR is not an address
 */
export function runtimeParts(config: Config, onEvent: OnEvent, force: boolean): PullParts {
  const folder = runtimeFolder(config.dataDir)
  const paths = new Map(cudaRelease.archives.map(({ path }) => [basename(path), path]))
  const hub = new Hub({
    endpoint: mirrorOf(config),
    token: null,
    timer: systemTimer,
    answerMs,
    userAgent: `myna/${version}`,
    pathOf: ({ path }) => paths.get(path) ?? path,
  })
  return {
    ...installationParts(config, onEvent),
    folder,
    hub,
    lock: () => tryFileLock(join(folder.path, 'install.lock')),
    find: systemLibraries(),
    driver: force ? null : driverVersion(examineDriver()),
  }
}

function mirrorOf({ runtimeMirror }: Config): string {
  const given = runtimeMirror || cudaRelease.host
  const url = URL.parse(given)
  if (url !== null && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
  throw new Failure(`MYNA_RUNTIME_MIRROR=${given} is not an address. Write it as ${cudaRelease.host}`, 'bad_setting')
}

type Bring = (parts: PullParts, signal: AbortSignal) => Promise<Brought>

async function bring(command: Command, force: boolean, leaving: string, work: Bring): Promise<void> {
  const { json, config } = globalsOf(command)
  const display = displayFor({ license: cudaLicense }, json)
  const parts = runtimeParts(config, display.onEvent, force)
  const brought = await interruptible(leaving, (signal) => work(parts, signal))
    .catch((error: unknown) => {
      throw error instanceof RuntimeError ? new Failure(error.message, error.code) : error
    })
    .finally(display.end)
  const { trouble } = await gpuStatus(config)
  const isServed = (await serverStatus(config.dataDir).catch(() => null)) !== null
  if (isServed && !brought.wasWhole) note('The running server uses it after a restart.')
  tell(json, brought, trouble === null ? null : `${trouble.message}. ${trouble.remedy}`)
}

/** @param trouble why it is not used yet */
function tell(json: boolean, { manifest, path, wasWhole }: Brought, trouble: string | null): void {
  const { files, system, onnxRuntime, cudaMajor } = manifest
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0)
  const unchecked = files.filter(({ evidence }) => evidence === 'none').map(({ name }) => name)
  if (json) {
    const done = { event: 'installed', path, onnxRuntime, cudaMajor, files: files.length, sizeBytes, system }
    process.stdout.write(`${JSON.stringify(snakeCase({ ...done, unchecked, wasWhole, trouble }))}\n`)
    return
  }
  const how = wasWhole ? 'is installed already, and complete' : 'is installed'
  const what = `ONNX Runtime ${onnxRuntime} for CUDA ${cudaMajor}`
  process.stdout.write(`${what} ${how}: ${count(files.length)} libraries, ${bytes(sizeBytes)} in ${path}\n`)
  if (system.length > 0) note(`These are taken from the system: ${system.join(', ')}`)
  if (unchecked.length > 0) note(`No hash is published for these; they are recorded as found: ${unchecked.join(', ')}`)
  if (trouble !== null) note(`It cannot be used yet: ${trouble}`)
}
