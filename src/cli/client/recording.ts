/** The recording that a command sends: looked at here first, so that what is no recording never leaves the machine. */
import { stat } from 'node:fs/promises'
import { Failure } from '../terminal/terminal.ts'

/** @param whenEmpty the error's code for a file without a byte @throws Failure `cannot_read`, `whenEmpty` */
export async function recordingIn(path: string, whenEmpty: string): Promise<Blob> {
  const found = await stat(path).catch((error: Error & { code?: string }) => {
    const why = error.code === 'ENOENT' ? `There is no file ${path}.` : `Cannot read ${path}: ${error.message}`
    throw new Failure(why, 'cannot_read')
  })
  if (!found.isFile()) throw new Failure(`Cannot read ${path}: it is no file.`, 'cannot_read')
  if (found.size === 0) throw new Failure(`${path} is empty: nothing was recorded.`, whenEmpty)
  return Bun.file(path)
}
