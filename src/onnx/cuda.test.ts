/**
 * Everything about CUDA that can be tested without a card: how states move when they are on the device (here memory
 * that only pretends to be one), the driver (here functions that answer as it would), and the messages of a real
 * library that lacks a part.
 */
import { expect, spyOn, test } from 'bun:test'
import { dirname, join } from 'node:path'
import type { Pointer } from 'bun:ffi'
import { temporaryFolder } from '../testing/folder.ts'
import { verifyLoops, verifyRuns } from './selftest.ts'
import { openCuda, providerSettings, shrinkBy } from './cuda.ts'
import { CudaDriver, type DriverCalls } from './cuda-driver.ts'
import { DeviceLost, DeviceOutOfMemory } from './device.ts'
import { OrtApi, ortApi } from './ffi/api.ts'
import type { FfiDevice } from './ffi/device.ts'
import { createFfiSessionOn } from './ffi/session.ts'
import { useCuda } from './back-end.ts'
import type { CreateSession } from './session.ts'

const card = { id: 1, dir: '/none', memoryBytes: 2e9, tf32: false }

test('a loop on a device: its states are copied from there when they are asked for, and nothing else is', async () => {
  const api = ortApi()
  const seen = { prepared: 0, downloads: [] as number[] }
  const [deviceAllocator, defaultMemory] = [0, 0]
  const device: FfiDevice = {
    name: 'elsewhere',
    prepare: () => seen.prepared++,
    memory: api.made((out) => api.call.CreateMemoryInfo('Cpu', deviceAllocator, 0, defaultMemory, out)),
    shrinking: api.shrinkingOptions('cpu:0'),
    download(target, address) {
      seen.downloads.push(target.byteLength)
      api.cpu.download(target, address)
    },
  }
  const create: CreateSession = (model, options) => createFfiSessionOn(api, device, model, options)
  await verifyRuns(create)
  expect(seen).toEqual({ prepared: 1, downloads: [] })
  await verifyLoops(create)
  // A cache of three pairs, a counter, a flag and two halves, once.
  expect(seen.prepared).toBe(2)
  expect(seen.downloads.sort((a, b) => a - b)).toEqual([1, 4, 8, 24])
})

test('notices a device that returns other data', async () => {
  const api = ortApi()
  const device: FfiDevice = { ...api.cpu, download: () => {} }
  await expect(verifyLoops((model, options) => createFfiSessionOn(api, device, model, options))).rejects.toThrow(
    'it computes wrongly',
  )
})

test('memory is given back where runs can do so; elsewhere they work without it', async () => {
  const told = spyOn(console, 'error').mockImplementation(() => {})
  const api = ortApi()
  const device: FfiDevice = { ...api.cpu, name: 'elsewhere' }
  const create: CreateSession = (model, options) => createFfiSessionOn(api, device, model, options)
  // That arena does not exist.
  await shrinkBy(api.shrinkingOptions('cpu:0;moon:0'), device, create)
  expect(device.shrinking).toBe(api.cpu.shrinking)
  expect(told.mock.calls.flat().join()).toContain('memory of elsewhere is kept between requests')
  const other = api.shrinkingOptions('cpu:0')
  await shrinkBy(other, device, create)
  expect(device.shrinking).toBe(other)
  told.mockRestore()
})

test('the options that the provider receives', () => {
  expect(providerSettings(card)).toEqual({
    device_id: '1',
    gpu_mem_limit: '2000000000',
    arena_extend_strategy: 'kNextPowerOfTwo',
    cudnn_conv_algo_search: 'HEURISTIC',
    do_copy_in_default_stream: '1',
    use_tf32: '0',
  })
  expect(providerSettings({ ...card, memoryBytes: null, tf32: true })).not.toHaveProperty('gpu_mem_limit')
})

test('an ONNX Runtime without the provider reports which library it looked for, and where', async () => {
  // This build can use CUDA; the program's own cannot.
  const entry = Bun.resolveSync('onnxruntime-node', import.meta.dir)
  const dir = join(dirname(entry), '..', 'bin', 'napi-v6', process.platform, process.arch)
  const api = new OrtApi(join(dir, 'libonnxruntime.so.1'))
  expect(() => openCuda(card, api)).toThrow(`${dir}/libonnxruntime_providers_shared.so: cannot open shared object file`)
  // It still works for the CPU.
  await verifyRuns((model, options) => createFfiSessionOn(api, api.cpu, model, options))
})

test('without ONNX Runtime there is no CUDA', async () => {
  // In a process of its own, because each process chooses once.
  const dir = temporaryFolder()
  const script = `
    import { useCuda } from ${JSON.stringify(join(import.meta.dir, 'back-end.ts'))}
    const options = { id: 0, dir: ${JSON.stringify(dir)}, memoryBytes: null, tf32: true }
    await useCuda(options).catch((error) => console.log(error.message))
  `
  const run = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' })
  expect(await new Response(run.stdout).text()).toContain(join(dir, 'libonnxruntime.so.1'))
})

test('CUDA cannot be chosen once graphs run on the CPU', async () => {
  const { backEnd } = await import('./back-end.ts')
  await backEnd()
  await expect(useCuda(card)).rejects.toThrow('graphs run on the CPU already')
})

/**
 * A driver with one card of 8 GB, 2 free, whose memory is filled with sevens; `fail` makes a function fail with a
 * number.
 */
function driver(fail: Partial<Record<keyof DriverCalls, number>> = {}): { calls: DriverCalls; entered: bigint[] } {
  const entered: bigint[] = []
  const answers = {
    cuInit: () => {},
    cuDeviceGet: (device: Int32Array, id: number) => (device[0] = id + 40),
    cuDevicePrimaryCtxRetain: (context: BigUint64Array, device: number) => (context[0] = BigInt(1000 + device)),
    cuCtxSetCurrent: (context: bigint) => entered.push(context),
    cuMemGetInfo_v2(free: BigUint64Array, total: BigUint64Array) {
      free[0] = 2_000_000_000n
      total[0] = 8_000_000_000n
    },
    cuMemcpyDtoH_v2: (target: Float32Array, address: number) => target.fill(address),
  }
  const calls = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      (...given: never[]) => {
        ;(answer as (...given: never[]) => unknown)(...given)
        return fail[name as keyof DriverCalls] ?? 0
      },
    ]),
  ) as unknown as DriverCalls
  return { calls, entered }
}

test("the driver reports how full the card is, and copies from it in the card's context", () => {
  const { calls, entered } = driver()
  const cuda = new CudaDriver(1, calls)
  expect(cuda.memory()).toEqual({ usedBytes: 6_000_000_000, totalBytes: 8_000_000_000 })
  const target = new Float32Array(2)
  cuda.download(target, 7 as Pointer)
  expect([...target]).toEqual([7, 7])
  expect(entered).toEqual([1041n, 1041n])
})

test('a driver error is reported with its number and classified correctly', () => {
  expect(() => new CudaDriver(9, driver({ cuDeviceGet: 101 }).calls)).toThrow('CUDA failure 101: cuDeviceGet')
  expect(() => new CudaDriver(0, driver({ cuInit: 100 }).calls)).toThrow(DeviceLost)
  expect(() => new CudaDriver(0, driver({ cuDevicePrimaryCtxRetain: 2 }).calls)).toThrow(DeviceOutOfMemory)
  const lost = new CudaDriver(0, driver({ cuMemcpyDtoH_v2: 700 }).calls)
  expect(() => lost.download(new Float32Array(1), 7 as Pointer)).toThrow(DeviceLost)
})
