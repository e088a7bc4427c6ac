import { expect, test } from 'bun:test'
import { briefly, deviceError, deviceFailure, DeviceLost, DeviceOutOfMemory } from './device.ts'

/** As users reported them, and as the provider of 1.30.0 printed them on a machine without a card. */
const said: [string, string, new (words: string) => Error][] = [
  [
    'a card that is full (onnxruntime#22702)',
    "Non-zero status code returned while running Conv node. Name:'/blocks.0/mlp/fc1/Conv' Status Message: " +
      '/onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(' +
      'size_t, bool, onnxruntime::Stream*, bool, onnxruntime::WaitNotificationFn) Failed to allocate memory for ' +
      'requested buffer of size 2830172160',
    DeviceOutOfMemory,
  ],
  ['the limit of the arena', 'Available memory of 1024 is smaller than requested bytes of 16777216', DeviceOutOfMemory],
  [
    'no memory for a stream (Deep-Live-Cam#584)',
    'cuda_call.cc:114 onnxruntime::CudaCall CUDA failure 2: out of memory ; GPU=0 ; hostname=x ; ' +
      'file=cuda_stream_handle.cc ; line=175 ; expr=cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);',
    DeviceOutOfMemory,
  ],
  [
    'no memory for a handle (hallo#218)',
    'CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=0 ; hostname=egg ; file=cuda_execution_provider.cc ; ' +
      'line=164 ; expr=cublasCreate(&cublas_handle_);',
    DeviceOutOfMemory,
  ],
  [
    'no memory for cuDNN',
    'CUDNN failure 4004: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ; GPU=0 ; hostname=x',
    DeviceOutOfMemory,
  ],
  [
    'an address that is none (onnxruntime#26312, ort#321)',
    'CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=10cb601a4a05 ; ' +
      'file=gpu_data_transfer.cc ; line=63 ; expr=cudaMemcpyAsync(dst_data, src_data, bytes, cudaMemcpyHostToDevice);',
    DeviceLost,
  ],
  ['a launch that failed', 'CUDA failure 719: unspecified launch failure ; GPU=1 ; hostname=x', DeviceLost],
  [
    'a card that is gone (1.30.0)',
    'CUDA failure 100: no CUDA-capable device is detected ; GPU=-1 ; hostname=vm ; ' +
      'file=/onnxruntime_src/onnxruntime/core/providers/cuda/cuda_execution_provider.cc ; line=352 ; ' +
      'expr=cudaSetDevice(info_.device_id);',
    DeviceLost,
  ],
  ['an argument', 'CUDA failure 1: invalid argument ; GPU=1 ; hostname=3eee3adbcb74 ; expr=cudaMemcpyAsync()', Error],
  ['a number that only begins like one', 'CUDA failure 20: something', Error],
  [
    'a library that is missing (1.30.0)',
    'Failed to load library /x/libonnxruntime_providers_cuda.so with error: libcuda.so.1: cannot open shared object ' +
      'file: No such file or directory',
    Error,
  ],
  ['a node that failed', "Non-zero status code returned while running Add node. Name:''", Error],
]

test.each(said)('%s', (_, words, kind) => {
  const error = deviceError(words)
  expect(error.constructor).toBe(kind)
  expect(error.message).toBe(words)
  expect(deviceFailure(error)).toBe(kind === Error ? null : error)
})

const loading =
  '/onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:1988 onnxruntime::Provider& ' +
  'onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load library ' +
  '/home/me/cuda/libonnxruntime_providers_cuda.so with error: '

/** As the provider of 1.30.0 printed them without a driver, without a library, and with a driver that has no card. */
test.each([
  [
    `${loading}libcuda.so.1: cannot open shared object file: No such file or directory\n`,
    'libonnxruntime_providers_cuda.so cannot be loaded: libcuda.so.1: cannot open shared object file: No such file ' +
      'or directory',
  ],
  [
    `${loading}/home/me/cuda/libonnxruntime_providers_cuda.so: undefined symbol: cuTensorMapEncodeTiled\n`,
    'libonnxruntime_providers_cuda.so cannot be loaded: libonnxruntime_providers_cuda.so: undefined symbol: ' +
      'cuTensorMapEncodeTiled',
  ],
  [
    '/onnxruntime_src/onnxruntime/core/providers/cuda/cuda_execution_provider_info.cc:62 static [ONNXRuntimeError] : ' +
      '1 : FAIL : provider_options_utils.h:187 Parse Failed to parse provider option "device_id": CUDA failure 100: ' +
      'no CUDA-capable device is detected ; GPU=-1 ; hostname=vm ; file=x.cc ; line=69 ; ' +
      'expr=cudaGetDeviceCount(&num_devices); ',
    'CUDA failure 100: no CUDA-capable device is detected',
  ],
  [
    'Failed to open library "/home/me/cuda/libonnxruntime.so.1": /home/me/cuda/libonnxruntime.so.1: file too short',
    'Failed to open library "libonnxruntime.so.1": libonnxruntime.so.1: file too short',
  ],
  ['CUDA failure 2: cuDevicePrimaryCtxRetain', 'CUDA failure 2: cuDevicePrimaryCtxRetain'],
  [
    "ENOENT: no such file or directory, open '/home/me/m/vocab.txt'",
    "ENOENT: no such file or directory, open 'vocab.txt'",
  ],
  ['voices/en/alba.bin is cut short', 'voices/en/alba.bin is cut short'],
  ['the self-test gave 1 instead of 2', 'the self-test gave 1 instead of 2'],
])('keeps the part of the message that people need', (words, brief) => {
  expect(briefly(words)).toBe(brief)
})

test('finds the cause however often it was wrapped', () => {
  const lost = new DeviceLost('CUDA failure 700')
  const wrapped = new Error('kokoro could not be loaded', { cause: new Error('decoder.onnx', { cause: lost }) })
  expect(deviceFailure(wrapped)).toBe(lost)
  expect(deviceFailure(new Error('no', { cause: 'CUDA failure 700' }))).toBeNull()
  expect(deviceFailure('CUDA failure 700')).toBeNull()
})
