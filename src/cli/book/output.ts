/**
 * Decides where the bytes of a book are written: to a file that is called `FILE.part` until it is complete, or to
 * standard output.
 */
import { type FileHandle, open, rename } from 'node:fs/promises'
import { Failure } from '../terminal/terminal.ts'

/** A pipe ignores positions: what was written there cannot be changed. */
export interface Output {
  write(bytes: Uint8Array, position: number): Promise<void>
  finish(): Promise<void>
  close(): Promise<void>
}

/** @throws Failure when it cannot be written */
export async function fileOutput(path: string): Promise<Output> {
  const part = `${path}.part`
  const cannot = (error: unknown): never => {
    throw new Failure(`Cannot write ${path}: ${error instanceof Error ? error.message : error}`, 'cannot_write')
  }
  const file: FileHandle = await open(part, 'w+').catch(cannot)
  return {
    async write(bytes, position) {
      for (let from = 0; from < bytes.length;) {
        const { bytesWritten } = await file.write(bytes, from, bytes.length - from, position + from).catch(cannot)
        from += bytesWritten
      }
    },
    async finish() {
      await file.sync().catch(cannot)
      await file.close()
      await rename(part, path).catch(cannot)
    },
    close: () => file.close(),
  }
}

export function pipeOutput(): Output {
  const writer = Bun.stdout.writer()
  return {
    async write(bytes) {
      writer.write(bytes)
      await writer.flush()
    },
    finish: async () => void (await writer.end()),
    close: async () => void (await writer.end()),
  }
}
