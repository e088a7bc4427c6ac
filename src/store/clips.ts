/**
 * The files of cloned voices and of consents: one folder each, `<data folder>/voices/<voice id>/`. They are written
 * into a folder beside it whose name begins with a dot, synced, and moved into place in one step, so that a voice's
 * folder always has everything or nothing. No voice's name begins with a dot, so leftovers of a crash are recognized by
 * name.
 */
import { existsSync, renameSync } from 'node:fs'
import { mkdir, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { voiceIdPattern } from '../domain/voice.ts'
import type { VoiceFile, VoiceFiles } from '../service/ports.ts'
import { asStorageFull, codeOf } from './errors.ts'

/** Half-written; in place until a moment ago (with the voice's id); on its way out. */
const newPrefix = '.new-'
const oldPrefix = '.old-'
const gonePrefix = '.gone-'

class FolderFiles<Name extends string> {
  readonly #root: string

  /** @param root below a folder that exists */
  constructor(root: string) {
    this.#root = root
  }

  /** Replaces existing files: readers find the old ones or the new ones, never some of each. */
  async put(voiceId: string, files: Readonly<Record<Name, Uint8Array>>): Promise<void> {
    const place = this.#placeOf(voiceId)
    if (place === null) throw new Error('This voice id cannot name a folder')
    let written: string | undefined
    try {
      await this.#makeRoot()
      written = await mkdtemp(join(this.#root, newPrefix))
      for (const [name, bytes] of Object.entries<Uint8Array>(files)) await writeFile(join(written, name), bytes)
      await sync(written)
      const old = join(this.#root, oldPrefix + voiceId)
      if (existsSync(place)) await rm(old, { recursive: true, force: true })
      swap(written, place, old)
      written = place
      await sync(this.#root)
      await rm(old, { recursive: true, force: true })
    } catch (error) {
      if (written !== undefined) await rm(written, { recursive: true, force: true })
      throw asStorageFull(error)
    }
  }

  async read(voiceId: string, file: Name): Promise<Uint8Array | null> {
    const place = this.#placeOf(voiceId)
    if (place === null) return null
    const path = join(place, file)
    for (;;) {
      try {
        return await Bun.file(path).bytes()
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') throw error
        // A thread that opens a file may meet the moment between the two renames of `swap`; nothing else can be there.
        if (!existsSync(path)) return null
      }
    }
  }

  /** Harmless if there are none. */
  async remove(voiceId: string): Promise<void> {
    const place = this.#placeOf(voiceId)
    if (place !== null) await this.#discard(place)
  }

  /** At the start, before anything is written: a folder being written looks like one that a crash left. */
  async removeOrphans(known: ReadonlySet<string>): Promise<number> {
    let removed = 0
    for (const entry of await this.#folders()) {
      const replacedId = entry.startsWith(oldPrefix) ? entry.slice(oldPrefix.length) : null
      if (replacedId !== null && known.has(replacedId) && !existsSync(join(this.#root, replacedId))) {
        await rename(join(this.#root, entry), join(this.#root, replacedId))
      } else if (!known.has(entry)) {
        await this.#discard(join(this.#root, entry))
        removed++
      }
    }
    return removed
  }

  /** Whether there are files of any voice, complete or not. */
  async hasAny(): Promise<boolean> {
    return (await this.#folders()).length > 0
  }

  /** Other content is left alone. */
  async #folders(): Promise<string[]> {
    try {
      const entries = await readdir(this.#root, { withFileTypes: true })
      return entries.filter((entry) => entry.isDirectory() && isOurs(entry.name)).map(({ name }) => name)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      throw error
    }
  }

  /** Taken out of its place in one step, for removing is many. */
  async #discard(folder: string): Promise<void> {
    const gone = join(this.#root, gonePrefix + crypto.randomUUID())
    try {
      await rename(folder, gone)
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return
      throw error
    }
    await rm(gone, { recursive: true, force: true })
  }

  async #makeRoot(): Promise<void> {
    const made = await mkdir(this.#root, { recursive: true, mode: 0o700 })
    if (made !== undefined) await sync(dirname(this.#root))
  }

  /** null: no voice of ours has such an id. */
  #placeOf(voiceId: string): string | null {
    return isPlace(voiceId) ? join(this.#root, voiceId) : null
  }
}

export class FolderVoiceFiles extends FolderFiles<VoiceFile> implements VoiceFiles {
  /** @param dataDir a folder that exists */
  constructor(dataDir: string) {
    super(join(dataDir, 'voices'))
  }
}

export class FolderRecordings extends FolderFiles<'recording'> {
  /** @param dataDir a folder that exists */
  constructor(dataDir: string) {
    super(join(dataDir, 'consents'))
  }
}

/** The pattern of ids admits `.`, `..` and the names of our own folders. */
const isPlace = (name: string): boolean => voiceIdPattern.test(name) && !name.startsWith('.')

const isOurs = (name: string): boolean =>
  isPlace(name) || [newPrefix, oldPrefix, gonePrefix].some((prefix) => name.startsWith(prefix))

/** In one turn of the event loop: `read` looks again. `removeOrphans` repairs a crash in between. */
function swap(written: string, place: string, old: string): void {
  if (existsSync(place)) renameSync(place, old)
  renameSync(written, place)
}

async function writeFile(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(bytes)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function sync(folder: string): Promise<void> {
  const opened = await open(folder, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
