/**
 * A blob being downloaded: the bytes that have arrived so far, in a file that outlives the process, and the digest over
 * them. The content is whatever a killed process had written; only the digest over all of it shows that it is good.
 */
import { type FileHandle, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type Content, Digest, digestFile } from './digest.ts'
import { ModelError } from '../model-error.ts'
import { codeOf, syncFolder } from '../models-folder.ts'

export class Part {
  readonly #path: string
  readonly #file: FileHandle
  readonly #digest: Digest

  private constructor(path: string, file: FileHandle, digest: Digest) {
    this.#path = path
    this.#file = file
    this.#digest = digest
  }

  /**
   * Continues with the existing bytes, which are read for the digest.
   * @param gitSizeBytes as `Digest` needs it
   * @throws ModelError `cannot_write`; the signal's reason
   */
  static async open(path: string, gitSizeBytes: number | null, signal: AbortSignal): Promise<Part> {
    const digest = new Digest(gitSizeBytes)
    const file = await open(path, 'a', 0o644).catch((error: unknown) => Promise.reject(cannotWrite(path, error)))
    try {
      // A pull under a strict umask may be for a service that runs as another user.
      await file.chmod(0o644)
      await digestFile(path, digest, signal)
      return new Part(path, file, digest)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  get sizeBytes(): number {
    return this.#digest.sizeBytes
  }

  content(): Content {
    return this.#digest.content()
  }

  /** @throws ModelError `disk_full`, `cannot_write`; what was written stays */
  async append(bytes: Uint8Array): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const rest = bytes.subarray(written)
      const { bytesWritten } = await this.#file.write(rest).catch((error: unknown) => {
        throw cannotWrite(this.#path, error)
      })
      this.#digest.add(rest.subarray(0, bytesWritten))
      written += bytesWritten
    }
  }

  async restart(): Promise<void> {
    await this.#file.truncate(0)
    this.#digest.restart()
  }

  /** Gives the blob its name, in the place of one that was not good. The content must have been checked. */
  async keep(blobPath: string): Promise<void> {
    try {
      await this.#file.sync()
      await rename(this.#path, blobPath)
      await syncFolder(dirname(blobPath))
    } catch (error) {
      throw cannotWrite(this.#path, error)
    }
  }

  /** Downloads that were not used stay for the next time. */
  async close(): Promise<void> {
    await this.#file.close()
  }
}

export function cannotWrite(path: string, cause: unknown): ModelError {
  const why = cause instanceof Error ? cause.message : String(cause)
  if (['ENOSPC', 'EDQUOT'].includes(codeOf(cause))) {
    const message =
      `The disk of ${dirname(path)} is full. The partial download is kept: free some ` + 'space and run this again.'
    return new ModelError('disk_full', message, { cause })
  }
  return new ModelError('cannot_write', `${path} cannot be written: ${why}`, { cause })
}
