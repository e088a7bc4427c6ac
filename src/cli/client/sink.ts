/**
 * Decides where the audio of `myna speak` goes. A file gets its name only when it is complete; until then it is called
 * `FILE.part`, so that half a sentence is never mistaken for a whole one.
 */
import { rm } from 'node:fs/promises'
import { openTarget, refuse } from './target.ts'

export interface Sink {
  readonly bytes: number
  write(chunk: Uint8Array): Promise<void>
  /** All is there. */
  keep(): Promise<void>
  /** Nothing more comes. @returns a sentence that says where the part that came can be found */
  leave(): Promise<string>
}

export const nothingKept = 'No audio was kept.'

/** @throws Failure when it cannot be written: before anything is asked of the server */
export async function fileSink(path: string): Promise<Sink> {
  const { file, part, keep } = await openTarget(path)
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    write: async (chunk) => {
      await file.writeFile(chunk).catch((error: unknown) => refuse(path, error))
      bytes += chunk.length
    },
    keep,
    leave: async () => {
      await file.close()
      if (bytes > 0 && part !== null) return `The part that arrived is in ${part}.`
      if (part !== null) await rm(part, { force: true })
      return nothingKept
    },
  }
}

export function stdoutSink(): Sink {
  const writer = Bun.stdout.writer()
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    write: async (chunk) => {
      writer.write(chunk)
      await writer.flush()
      bytes += chunk.length
    },
    keep: async () => void (await writer.end()),
    leave: async () => {
      await writer.end()
      return nothingKept
    },
  }
}
