import { beforeEach, expect, test } from 'bun:test'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { zipOf } from '../testing/archives.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { never } from '../testing/test-model.ts'
import { importCuda } from './bring.ts'
import type { Probe } from './gpu-probe.ts'
import { placeOf, runtimeFolder } from './installed.ts'
import { cudaBuild } from './library.fixture.ts'
import { testParts } from './parts.fixture.ts'
import { cudaRelease } from './release.ts'
import { runtimeStatus } from './status.ts'

let dataDir: string
let root: string
beforeEach(() => {
  dataDir = temporaryFolder()
  root = temporaryFolder()
  const files = {
    'proc/driver/nvidia/version': 'NVRM 580.159.04',
    'lib64/libcuda.so.580.159.04': '',
    'dev/nvidia0': '',
  }
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  symlinkSync('libcuda.so.580.159.04', join(root, 'lib64/libcuda.so.1'))
})

async function install(code: Parameters<typeof cudaBuild>[0] = {}): Promise<void> {
  const { onnxRuntime, nvidia } = cudaBuild(code)
  const path = join(temporaryFolder(), 'all.zip')
  writeFileSync(path, zipOf([...onnxRuntime, ...nvidia].map(([name, content]) => ({ name, content }))))
  await importCuda(cudaRelease, [path], testParts(dataDir), never)
}

const gpu = (capability: number) => ({ index: 0, name: 'NVIDIA Test', memoryBytes: 8e9, capability })
const answer = (capability = 90): Probe => ({ cuda: '13.0', gpus: [gpu(capability)], error: null, remedy: null })

let asked: string[] = []
const status = (probe = answer(), cudaOnnxRuntime = '1.30.0') => {
  asked = []
  const ask = async (library: string) => {
    asked.push(library)
    return probe
  }
  return runtimeStatus({ dataDir, onnxRuntime: '1.32.0', cudaOnnxRuntime, root, probe: ask })
}

test('reports what is installed, where it came from, and for which cards and drivers', async () => {
  await install({
    code: [
      [2, 75],
      [2, 90],
    ],
  })
  const { installed, driver, probe, trouble } = await status()
  expect(trouble).toBeNull()
  expect(installed).toMatchObject({
    path: placeOf(runtimeFolder(dataDir)),
    faults: [],
    gpuCode: { machine: [75, 90], portable: [] },
    oldestDriver: 580,
    manifest: { onnxRuntime: '1.30.0', cudaMajor: 13 },
  })
  expect(driver.version).toBe('580.159.04')
  expect(probe).toEqual(answer())
  expect(asked).toEqual([join(root, 'lib64/libcuda.so.1')])
})

test('reports the first thing to fix: driver, device, runtime, its release, its files', async () => {
  const failed = { ...answer(), gpus: [], error: 'the driver shows no device (cuInit says 100)', remedy: 'Look.' }
  expect((await status(failed)).trouble).toEqual({ message: failed.error, remedy: 'Look.' })
  expect((await status()).trouble).toEqual({
    message: 'the CUDA build of ONNX Runtime is not installed',
    remedy: 'Install it: myna runtime pull cuda',
  })
  await install()
  expect((await status(answer(), '1.31.0')).trouble?.message).toBe(
    'the CUDA build is of ONNX Runtime 1.30.0, and this program needs 1.31.0',
  )
  rmSync(join(placeOf(runtimeFolder(dataDir)), 'libcudart.so.13'))
  expect((await status()).trouble).toEqual({
    message: 'the CUDA build of ONNX Runtime is incomplete: libcudart.so.13 is missing',
    remedy: 'Fix it: myna runtime pull cuda',
  })
  writeFileSync(join(root, 'proc/driver/nvidia/version'), 'NVRM 570.10')
  rmSync(join(root, 'lib64/libcuda.so.1'))
  symlinkSync('libcuda.so.570.10', join(root, 'lib64/libcuda.so.1'))
  writeFileSync(join(root, 'lib64/libcuda.so.570.10'), '')
  expect((await status()).trouble?.message).toBe('NVIDIA driver 570.10 is too old: CUDA 13 needs 580 or newer')
  expect(asked).toEqual([])
})

test.each([
  [61, 'only for compute capability 7.5, 9.0', 'Import the build for CUDA 12'],
  [100, 'this build of ONNX Runtime has no code for NVIDIA Test (10.0)', 'Models run on the CPU until'],
])('a card of compute capability %p, for which there is no code', async (capability, message, remedy) => {
  await install({
    code: [
      [2, 75],
      [2, 90],
    ],
  })
  const { trouble } = await status(answer(capability))
  expect(trouble?.message).toContain(message)
  expect(trouble?.remedy).toContain(remedy)
})
