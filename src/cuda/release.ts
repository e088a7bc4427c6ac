/**
 * The CUDA build of ONNX Runtime that belongs to this program, as data (`cuda.json`): archives with address, size and
 * hash. They are wheels from the Python package index and not the release archives on GitHub, for three reasons: the
 * index publishes a SHA-256 for each file, and a file once uploaded there can never change; ONNX Runtime and NVIDIA
 * both publish there, so that one host is enough; and mirrors of it are everywhere. A wheel is a zip file. No Python is
 * needed to take libraries out of it.
 *
 * The libraries are of CUDA 13.0, the oldest that this build can use: every driver that runs CUDA 13 at all runs it.
 */
import data from './cuda.json' with { type: 'json' }

export interface CudaRelease {
  /** Identity: equal values mean the same file. */
  id: string
  /**
   * That of all its pieces, which call each other through tables without versions. The library inside the program may
   * be of another release: an engine opens one or the other.
   */
  onnxRuntime: string
  cudaMajor: number
  /** Host of the archives, without a trailing slash. */
  host: string
  archives: readonly CudaArchive[]
}

export interface CudaArchive {
  /** Readable name: `nvidia-cublas 13.1.0.3`. */
  name: string
  /** Path below the host. */
  path: string
  sizeBytes: number
  sha256: string
  /** Size of the extracted files. */
  unpackedBytes: number
}

export const cudaRelease: CudaRelease = {
  id: data.id,
  onnxRuntime: data.onnx_runtime,
  cudaMajor: data.cuda_major,
  host: data.host,
  archives: data.archives.map(({ size_bytes: sizeBytes, unpacked_bytes: unpackedBytes, ...archive }) => ({
    ...archive,
    sizeBytes,
    unpackedBytes,
  })),
}

/** What is pulled, and on whose terms. */
export const cudaLicense = {
  name: 'MIT (ONNX Runtime) and NVIDIA (CUDA libraries)',
  attribution: 'ONNX Runtime, Copyright Microsoft Corporation; CUDA and cuDNN libraries, Copyright NVIDIA Corporation',
  limits:
    'the CUDA libraries are proprietary, and using them means to accept https://docs.nvidia.com/cuda/eula/ and ' +
    'https://docs.nvidia.com/deeplearning/cudnn/latest/reference/eula.html; both texts come along, in licenses/',
}

/**
 * The oldest driver for each CUDA: the first of the branch that came with its first release. Later releases of the
 * same major version run on it, too.
 * Source: NVIDIA, CUDA Compatibility, table 1 (docs.nvidia.com/deploy/cuda-compatibility, minor version compatibility).
 */
const oldestDrivers: Readonly<Record<number, number>> = { 11: 450, 12: 525, 13: 580 }

/** The branch, the first number of a driver's version; null: nothing is known of such a CUDA. */
export const oldestDriver = (cudaMajor: number): number | null => oldestDrivers[cudaMajor] ?? null

/** @param driver `580.159.04` */
export function runsCuda(driver: string, cudaMajor: number): boolean {
  const oldest = oldestDriver(cudaMajor)
  return oldest !== null && Number.parseInt(driver, 10) >= oldest
}
