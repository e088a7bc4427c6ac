/**
 * Spoken pieces of a book, each a file of samples beside the future book. When the command fails or is stopped, the
 * same command continues from them. A piece is found by its request, so a changed text or another voice is spoken anew.
 */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { s16FromBytes } from '../../audio/pcm.ts'
import type { SpokenWords } from '../client/captions.ts'
import { Failure } from '../terminal/terminal.ts'

export interface KeptPiece {
  pcm: Int16Array
  /** null: not requested. */
  words: SpokenWords | null
}

export class KeptPieces {
  private constructor(readonly folder: string) {}

  /** @throws Failure when the folder cannot be made */
  static async open(folder: string): Promise<KeptPieces> {
    await mkdir(folder, { recursive: true }).catch((error: Error) => {
      throw new Failure(`Cannot write ${folder}: ${error.message}`, 'cannot_write')
    })
    return new KeptPieces(folder)
  }

  /** The path of a request's samples. */
  pathOf(body: object): string {
    const name = new Bun.CryptoHasher('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 32)
    return join(this.folder, `${name}.pcm`)
  }

  /** @returns null if it has not been spoken yet */
  async find(body: object, isTimed: boolean): Promise<KeptPiece | null> {
    const path = this.pathOf(body)
    const samples = await readFile(path).catch(() => null)
    if (samples === null) return null
    if (!isTimed) return { pcm: s16FromBytes(samples), words: null }
    const words = await readFile(`${path}.json`, 'utf8').catch(() => null)
    return words === null ? null : { pcm: s16FromBytes(samples), words: JSON.parse(words) as SpokenWords }
  }

  /** The times of a piece's words; written completely or not at all. */
  async keepWords(body: object, { words, isEstimated }: SpokenWords): Promise<void> {
    const path = `${this.pathOf(body)}.json`
    await writeFile(`${path}.part`, JSON.stringify({ words, isEstimated }))
    await rename(`${path}.part`, path)
  }

  /** Removes the pieces of a complete book. */
  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true })
  }
}
