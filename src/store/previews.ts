/**
 * Files derived from voices that can be derived again (`<data folder>/previews/<voice id>/`): they are neither in the
 * database nor in a backup. A file is written under another name, synced and renamed, so that a reader finds a complete
 * one or none.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { voiceIdPattern } from '../domain/voice.ts'
import type { PreviewFiles } from '../service/ports.ts'
import { asStorageFull, codeOf } from './errors.ts'

const newPrefix = '.new-'

export class FolderPreviewFiles implements PreviewFiles {
  readonly #root: string

  /** @param dataDir a folder that exists */
  constructor(dataDir: string) {
    this.#root = join(dataDir, 'previews')
  }

  async read(voiceId: string, name: string): Promise<Uint8Array | null> {
    try {
      return await Bun.file(join(this.#folderOf(voiceId), name)).bytes()
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    }
  }

  async write(voiceId: string, name: string, bytes: Uint8Array): Promise<void> {
    const folder = this.#folderOf(voiceId)
    const written = join(folder, newPrefix + crypto.randomUUID())
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = await open(written, 'wx', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(written, join(folder, name))
    } catch (error) {
      await rm(written, { force: true })
      throw asStorageFull(error)
    }
  }

  async remove(voiceId: string): Promise<void> {
    await rm(this.#folderOf(voiceId), { recursive: true, force: true })
  }

  /** At the start: half-written files of known voices are removed too. */
  async removeOrphans(known: ReadonlySet<string>): Promise<number> {
    let removed = 0
    for (const voiceId of await namesIn(this.#root)) {
      if (!known.has(voiceId)) {
        await rm(join(this.#root, voiceId), { recursive: true, force: true })
        removed++
        continue
      }
      const names = await namesIn(join(this.#root, voiceId))
      const halfWritten = names.filter((name) => name.startsWith(newPrefix))
      await Promise.all(halfWritten.map((name) => rm(join(this.#root, voiceId, name), { force: true })))
    }
    return removed
  }

  #folderOf(voiceId: string): string {
    if (!voiceIdPattern.test(voiceId) || voiceId.startsWith('.')) throw new Error('This voice id cannot name a folder')
    return join(this.#root, voiceId)
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
    throw error
  }
}
