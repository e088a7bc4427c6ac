/**
 * Two names for the content of a file: its SHA-256, by which blobs are called and large files are known on a hub, and
 * the id that git gives it (SHA-1 over `blob <size>\0` and the content), by which a hub knows small files. One pass.
 */
import { open } from 'node:fs/promises'

export interface Content {
  sizeBytes: number
  /** In hex, like all of these. */
  sha256: string
  /** null: not needed. */
  gitSha1: string | null
}

const readBytes = 1 << 20

export class Digest {
  readonly #gitSizeBytes: number | null
  #sizeBytes = 0
  #sha256 = new Bun.CryptoHasher('sha256')
  #gitSha1: Bun.CryptoHasher | null

  /** @param gitSizeBytes of the whole content, for git puts it first; null: no git id is wanted */
  constructor(gitSizeBytes: number | null) {
    this.#gitSizeBytes = gitSizeBytes
    this.#gitSha1 = gitHasher(gitSizeBytes)
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  add(bytes: Uint8Array): void {
    this.#sizeBytes += bytes.length
    this.#sha256.update(bytes)
    this.#gitSha1?.update(bytes)
  }

  restart(): void {
    this.#sizeBytes = 0
    this.#sha256 = new Bun.CryptoHasher('sha256')
    this.#gitSha1 = gitHasher(this.#gitSizeBytes)
  }

  /** The digest of what was added so far; more may follow. */
  content(): Content {
    return {
      sizeBytes: this.#sizeBytes,
      sha256: this.#sha256.copy().digest('hex'),
      gitSha1: this.#gitSha1?.copy().digest('hex') ?? null,
    }
  }
}

function gitHasher(sizeBytes: number | null): Bun.CryptoHasher | null {
  return sizeBytes === null ? null : new Bun.CryptoHasher('sha1').update(`blob ${sizeBytes}\0`)
}

/**
 * @param signal ends the reading between two blocks
 * @throws what the file system says when it cannot be read; the signal's reason
 */
export async function digestFile(path: string, digest: Digest, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'r')
  try {
    const block = new Uint8Array(readBytes)
    for (;;) {
      signal.throwIfAborted()
      const { bytesRead } = await file.read(block, 0, block.length, null)
      if (bytesRead === 0) return
      digest.add(block.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}
