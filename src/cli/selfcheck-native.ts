/**
 * `myna selfcheck-native` (hidden): unpacks and loads the native libraries, and prints where they are from. Tests of
 * the executable run it; it also helps to find out why an engine does not start.
 */
import { dlopen } from 'bun:ffi'
import { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { NativeError, setNativeDir } from '../engine/native.ts'

export const selfcheckNativeCommand = (): Command =>
  new Command('selfcheck-native').action(async () => {
    setNativeDir(loadConfig().nativeDir)
    try {
      const { openOnnxRuntime, onnxRuntimeVersion } = await import('../embedded/onnx-runtime.ts')
      openOnnxRuntime((path) => dlopen(path, { OrtGetApiBase: { args: [], returns: 'ptr' } }))
      const { default: sharp } = await import('sharp')
      const result = { onnxruntime: onnxRuntimeVersion, libvips: sharp.versions.vips }
      process.stdout.write(`${JSON.stringify(result)}\n`)
    } catch (error) {
      if (!(error instanceof NativeError)) throw error
      process.stderr.write(`myna: ${error.message}\n`)
      process.exitCode = 1
    }
  })
