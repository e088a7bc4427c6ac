/**
 * Decides where the bytes of a book are written: to a file that is called `FILE.part` until it is complete, or to a
 * pipe.
 */
import { openTarget, refuse } from '../client/target.ts'

export interface Output {
  /** A pipe ignores positions: what was written there cannot be changed. */
  readonly isPipe: boolean
  write(bytes: Uint8Array, position: number): Promise<void>
  finish(): Promise<void>
  close(): Promise<void>
}

/** @throws Failure when it cannot be written */
export async function fileOutput(path: string): Promise<Output> {
  const { file, part, keep } = await openTarget(path)
  const isPipe = part === null
  return {
    isPipe,
    async write(bytes, position) {
      for (let from = 0; from < bytes.length;) {
        const at = isPipe ? null : position + from
        const { bytesWritten } = await file
          .write(bytes, from, bytes.length - from, at)
          .catch((error: unknown) => refuse(path, error))
        from += bytesWritten
      }
    },
    finish: keep,
    close: () => file.close(),
  }
}

export function pipeOutput(): Output {
  const writer = Bun.stdout.writer()
  return {
    isPipe: true,
    async write(bytes) {
      writer.write(bytes)
      await writer.flush()
    },
    finish: async () => void (await writer.end()),
    close: async () => void (await writer.end()),
  }
}
