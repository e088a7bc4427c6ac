/** `myna runtime`: the CUDA build of ONNX Runtime, with which models run on an NVIDIA card. */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { putAside } from '../../catalog/install/install.ts'
import { withLock } from '../../catalog/install/lock.ts'
import { sweepFolders } from '../../catalog/install/sweep.ts'
import { namesIn } from '../../catalog/models-folder.ts'
import { placeOf, readManifest, runtimeFolder } from '../../cuda/installed.ts'
import { bytes } from '../terminal/format.ts'
import { globalsOf } from '../globals.ts'
import { interruptible } from '../models/local.ts'
import { runtimeImportCommand, runtimePullCommand, runtimeParts } from './bring.ts'
import { requireCuda } from './name.ts'
import { runtimeStatusCommand } from './status.ts'
import { Failure, report } from '../terminal/terminal.ts'

export const runtimeCommand = (): Command =>
  new Command('runtime')
    .addHelpText(
      'after',
      `
The program contains ONNX Runtime for the CPU. An NVIDIA card needs the driver and one
command: myna runtime pull cuda. No CUDA toolkit and no container are needed.

Examples:
  myna runtime status
  myna runtime pull cuda
  myna runtime import ./downloads
  myna runtime rm cuda`,
    )
    .addCommand(runtimeStatusCommand())
    .addCommand(runtimePullCommand())
    .addCommand(runtimeImportCommand())
    .addCommand(removeCommand())

const removeCommand = (): Command =>
  new Command('rm')
    .description('remove the CUDA build of ONNX Runtime from this machine')
    .argument('<name>', 'cuda')
    .addHelpText(
      'after',
      `
An engine that uses it continues until it ends; the next one starts on the CPU.`,
    )
    .action(async (name: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      requireCuda(name)
      const folder = runtimeFolder(config.dataDir)
      const manifest = readManifest(placeOf(folder))
      let freedBytes = manifest?.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) ?? 0
      const parts = runtimeParts(config, () => {}, true)
      const wasThere = await interruptible('Stopped.', async (signal) => {
        await folder.make()
        return withLock(parts, signal, async () => {
          const was = await putAside(folder, placeOf(folder))
          // Unfinished downloads here belong to this command alone.
          for (const blob of await namesIn(folder.blobs)) freedBytes += removeFile(join(folder.blobs, blob))
          await sweepFolders(folder)
          return was || freedBytes > 0
        })
      })
      if (!wasThere) throw new Failure('The CUDA build of ONNX Runtime is not installed.', 'not_installed')
      report(json, { name, freedBytes }, () => `The CUDA build is removed; ${bytes(freedBytes)} freed.`)
    })

/** @returns the bytes that it had */
function removeFile(path: string): number {
  const sizeBytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  rmSync(path, { recursive: true, force: true })
  return sizeBytes
}
