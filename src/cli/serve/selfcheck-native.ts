/**
 * `myna selfcheck-native` (hidden): unpacks and loads the native libraries, and says where they are from. Tests of the
 * executable run it, and so can whoever wonders why an engine does not start.
 */
import { Command } from 'commander'
import { loadConfig } from '../../config.ts'
import { NativeError, setNativeDir } from '../../engine/native.ts'

export const selfcheckNative = (): Command =>
  new Command('selfcheck-native').description('load the native libraries').action(async () => {
    setNativeDir(loadConfig().nativeDir)
    try {
      const { env } = await import('onnxruntime-node')
      const { default: sharp } = await import('sharp')
      const result = { onnxruntime: env.versions.node ?? env.versions.common, libvips: sharp.versions.vips }
      process.stdout.write(`${JSON.stringify(result)}\n`)
    } catch (error) {
      if (!(error instanceof NativeError)) throw error
      process.stderr.write(`myna: ${error.message}\n`)
      process.exitCode = 1
    }
  })
