import { expect, test } from 'bun:test'
import { type DriverCalls, openDriver, probeGpus } from './gpu-probe.ts'

/** NVIDIA's library, as its header describes it, with two cards. */
function driver(change: Partial<DriverCalls> = {}): DriverCalls {
  const cards = [
    { name: 'NVIDIA H100 80GB HBM3', bytes: 85_520_809_984n, major: 9, minor: 0 },
    { name: 'NVIDIA GeForce RTX 5090', bytes: 34_190_917_632n, major: 12, minor: 0 },
  ]
  const put = (out: Int32Array, value: number) => {
    out[0] = value
    return 0
  }
  return {
    cuInit: () => 0,
    cuDriverGetVersion: (out) => put(out, 13_010),
    cuDeviceGetCount: (out) => put(out, cards.length),
    // Handles are not ordinals.
    cuDeviceGet: (out, ordinal) => put(out, 7 + ordinal),
    cuDeviceGetName: (out, sizeBytes, device) => {
      const name = new TextEncoder().encode(`${cards[device - 7]?.name}\0`)
      if (name.length > sizeBytes) return 1
      out.set(name)
      return 0
    },
    cuDeviceTotalMem_v2: (out, device) => {
      out[0] = cards[device - 7]?.bytes ?? 0n
      return 0
    },
    cuDeviceGetAttribute: (out, attribute, device) => {
      const { major, minor } = cards[device - 7] ?? { major: 0, minor: 0 }
      if (attribute !== 75 && attribute !== 76) return 1
      return put(out, attribute === 75 ? major : minor)
    },
    ...change,
  }
}

test("lists the devices in the driver's order", () => {
  expect(probeGpus(() => driver())).toEqual({
    cuda: '13.1',
    gpus: [
      { index: 0, name: 'NVIDIA H100 80GB HBM3', memoryBytes: 85_520_809_984, capability: 90 },
      { index: 1, name: 'NVIDIA GeForce RTX 5090', memoryBytes: 34_190_917_632, capability: 120 },
    ],
    error: null,
    remedy: null,
  })
})

test.each([
  [100, 'the driver shows no device (cuInit says 100)', 'CUDA_VISIBLE_DEVICES'],
  [802, 'the devices are not ready (cuInit says 802)', 'fabricmanager'],
  [803, 'driver and library are of different versions (cuInit says 803)', 'Restart'],
  [999, 'the driver has failed (cuInit says 999)', 'nvidia-modprobe'],
  [712, 'the driver has failed (cuInit says 712)', 'nvidia-smi'],
])('cuInit says %p', (code, error, remedy) => {
  const probe = probeGpus(() => driver({ cuInit: () => code }))
  expect(probe).toMatchObject({ cuda: null, gpus: [], error })
  expect(probe.remedy).toContain(remedy)
})

test('a call that fails later is named', () => {
  expect(probeGpus(() => driver({ cuDeviceTotalMem_v2: () => 46 })).error).toBe(
    'the driver has failed (cuDeviceTotalMem says 46)',
  )
})

test.each([
  [import.meta.path, 'a file that is no library'],
  ['/nonexistent/libcuda.so.1', 'no file'],
  ['libc.so.6', 'a library without the functions'],
])('reports what cannot be opened: %s', (path) => {
  const probe = probeGpus(() => openDriver(path))
  expect(probe.error).toStartWith('libcuda.so.1 cannot be loaded: ')
  expect(probe.gpus).toEqual([])
})
