/**
 * ONNX Runtime's library, as data: the file of one wheel, with its hash. The newest release of npm's package is 1.30.0;
 * with 1.32.0 Kokoro takes two thirds of the processor time, to the same bits. The library is also 11 MB smaller.
 *
 * The CUDA build is another set of libraries with a release of its own (`src/cuda/release.ts`): an engine opens either
 * this library or that one, and asks both for the same functions.
 */
import type { EmbeddedFile } from '../src/domain/card.ts'

export const onnxRuntime: EmbeddedFile = {
  name: 'libonnxruntime.so.1',
  member: 'onnxruntime/capi/libonnxruntime.so.1.32.0',
  sizeBytes: 34_824_680,
  sha256: '6c1585d1bbf45b0712ea4a21b705c5fcb4ba04ff2e30f1fbf81a49faf658638f',
  wheel: {
    package: 'onnxruntime',
    version: '1.32.0',
    path:
      'packages/1d/46/e6f356c9539d2eed44126de3421a81e217da2ad91b22dc11b379cb1e384f/' +
      'onnxruntime-1.32.0-cp311-cp311-manylinux_2_28_x86_64.whl',
    sizeBytes: 27_773_237,
    sha256: '5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d',
  },
}
