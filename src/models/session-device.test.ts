import { expect, test } from 'bun:test'
import { deviceError, deviceFailure, DeviceLost, DeviceOutOfMemory } from './session-device.ts'

/** As people reported them, and as the provider of 1.30.0 said them on a machine without a card. */
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

test('however often it was wrapped, it is found', () => {
  const lost = new DeviceLost('CUDA failure 700')
  const wrapped = new Error('kokoro could not be loaded', { cause: new Error('decoder.onnx', { cause: lost }) })
  expect(deviceFailure(wrapped)).toBe(lost)
  expect(deviceFailure(new Error('no', { cause: 'CUDA failure 700' }))).toBeNull()
  expect(deviceFailure('CUDA failure 700')).toBeNull()
})
