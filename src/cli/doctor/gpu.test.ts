import { expect, test } from 'bun:test'
import type { RuntimeManifest } from '../../cuda/installed.ts'
import type { RuntimeStatus } from '../../cuda/status.ts'
import { checkDriver, checkRuntime } from './gpu.ts'

const manifest: RuntimeManifest = {
  release: 'test',
  onnxRuntime: '1.30.0',
  cudaMajor: 13,
  installedAtMs: 0,
  files: [],
  system: [],
}
const installed = {
  path: '/data/runtime/installed/cuda',
  manifest,
  sizeBytes: 1_600_000_000,
  faults: [] as string[],
  gpuCode: null,
  oldestDriver: 580,
}
const gpus = [{ index: 0, name: 'NVIDIA H100', memoryBytes: 85_000_000_000, capability: 90 }]
const healthy: RuntimeStatus = {
  onnxRuntime: '1.32.0',
  cudaOnnxRuntime: '1.30.0',
  installed,
  driver: {
    version: '580.10',
    kernel: '580.10',
    library: { path: '/usr/lib/libcuda.so.1', version: '580.10' },
    devices: [{ path: '/dev/nvidia0', error: null }],
    isWsl: false,
    container: null,
    hasCard: true,
  },
  probe: { cuda: '13.0', gpus, error: null, remedy: null },
  trouble: null,
}
const none = { ...healthy.driver, version: null, kernel: null, library: null, devices: [], hasCard: false }

test('a machine on which CUDA can be used', () => {
  expect(checkDriver(healthy)).toEqual({
    state: 'ok',
    message: 'NVIDIA driver 580.10, for CUDA up to 13.0; cuda:0 NVIDIA H100, 85.0 GB, compute capability 9.0',
    remedy: null,
  })
  expect(checkRuntime(healthy)).toMatchObject({
    state: 'ok',
    message: 'ONNX Runtime 1.30.0 for CUDA 13, 1.6 GB, complete, and of the release that this program needs',
  })
})

test('a machine without a card is healthy, and the line says so', () => {
  const status = { ...healthy, installed: null, driver: none, probe: null }
  expect(checkDriver(status)).toEqual({
    state: 'note',
    message: 'no NVIDIA driver, and no NVIDIA card: models run on the CPU',
    remedy: 'CUDA needs an NVIDIA card.',
  })
  expect(checkRuntime(status)).toMatchObject({
    state: 'note',
    message: 'the CUDA build of ONNX Runtime is not installed, and would not help here yet',
  })
})

test('a usable card that is not used is a warning with its remedy', () => {
  const trouble = { message: 'the CUDA build of ONNX Runtime is not installed', remedy: 'x' }
  expect(checkRuntime({ ...healthy, installed: null, trouble })).toEqual({
    state: 'warning',
    message: 'the CUDA build of ONNX Runtime is not installed: models run on the CPU',
    remedy: 'Install it: myna runtime pull cuda',
  })
  expect(checkDriver({ ...healthy, driver: { ...none, hasCard: true }, probe: null })).toMatchObject({
    state: 'warning',
    message: 'there is an NVIDIA card, but no driver: models run on the CPU',
  })
  const failing = { cuda: null, gpus: [], error: 'the driver shows no device (cuInit says 100)', remedy: 'Look.' }
  expect(checkDriver({ ...healthy, probe: failing })).toEqual({
    state: 'warning',
    message: 'NVIDIA driver 580.10: the driver shows no device (cuInit says 100)',
    remedy: 'Look.',
  })
  expect(checkRuntime({ ...healthy, probe: failing, trouble })).toMatchObject({
    state: 'note',
    message: 'ONNX Runtime 1.30.0 for CUDA 13, 1.6 GB, complete; it waits for the driver',
  })
  const faults = ['libcudart.so.13 is missing']
  const broken = { message: 'it is not whole: libcudart.so.13 is missing', remedy: 'Mend it.' }
  expect(checkRuntime({ ...healthy, installed: { ...installed, faults }, trouble: broken })).toEqual({
    state: 'warning',
    message: `${broken.message}: models run on the CPU`,
    remedy: 'Mend it.',
  })
})
