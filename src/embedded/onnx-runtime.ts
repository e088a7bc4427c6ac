/**
 * ONNX Runtime's library, as a file that the system can load. Run from source, it is in the build cache; the executable
 * carries it and unpacks it first (`build/native.ts` replaces this file there).
 */
import { cachedPath } from '../../build/cache.ts'
import { onnxRuntime } from '../../build/onnx-runtime.ts'

/**
 * @param open is given the library's path @returns what it returns
 * @throws Error when the build cache lacks the library; NativeError in the executable, also for what `open` throws
 */
export const openOnnxRuntime = <T>(open: (path: string) => T): T => open(cachedPath(onnxRuntime))

/** Whether it can be opened at once: unpacking it takes 0.2 s and more on a busy machine. */
export const isOnnxRuntimeAtHand = (): boolean => true

/** Its release. */
export const onnxRuntimeVersion: string = onnxRuntime.wheel.version
