/**
 * Where a file that a command writes is put together: beside its final name, which it gets when it is complete. A link
 * stays a link. Devices and pipes are written directly, because the rename would replace `/dev/null` itself.
 */
import { type FileHandle, open, realpath, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from '../terminal/terminal.ts'

export interface Target {
  file: FileHandle
  /** Its name until it is complete; null: a device or a pipe. */
  part: string | null
  /** Gives the complete file its name. @throws Failure */
  keep(): Promise<void>
}

/** @throws Failure when it cannot be written */
export async function openTarget(path: string): Promise<Target> {
  const { real, isPlain } = await placeOf(path)
  const part = isPlain ? `${real}.part` : null
  const file = await open(part ?? real, isPlain ? 'w+' : 'w').catch((error: unknown) => refuse(path, error))
  return {
    file,
    part,
    async keep() {
      try {
        if (part !== null) await file.sync()
        await file.close()
        if (part !== null) await rename(part, real)
      } catch (error) {
        refuse(path, error)
      }
    },
  }
}

/** @returns the file that a path leads to @throws Failure when no file can be there */
export async function placeOf(path: string): Promise<{ real: string; isPlain: boolean }> {
  const found = await stat(path).catch(() => null)
  if (found === null) {
    await stat(dirname(path)).catch((error: unknown) => refuse(path, error))
    return { real: path, isPlain: true }
  }
  if (found.isDirectory()) throw new Failure(`${path} is a folder. Name a file in it.`, 'cannot_write')
  // A pipe has a path, such as /dev/fd/63, that leads to no name.
  return found.isFile() ? { real: await realpath(path), isPlain: true } : { real: path, isPlain: false }
}

const reasons: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `there is no folder ${dirname(path)}. Create it first.`,
  ENOTDIR: (path) => `${dirname(path)} is not a folder.`,
  EACCES: () => 'permission denied. Name a file in a folder of yours.',
  EROFS: () => 'its disk is read-only. Name a file on another disk.',
  ENOSPC: () => 'the disk is full. Make room, or name a file on another disk.',
  ENAMETOOLONG: () => 'the name is too long. Choose a shorter one.',
}

/** @throws Failure always */
export function refuse(path: string, error: unknown): never {
  const { code = '', message } = error as Error & { code?: string }
  throw new Failure(`Cannot write ${path}: ${reasons[code]?.(path) ?? message}`, 'cannot_write')
}
