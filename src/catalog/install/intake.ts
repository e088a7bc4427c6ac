/** Takes in files from a source: writes each one beside the blobs, and makes it a blob if it is a wanted file. */
import { rm } from 'node:fs/promises'
import type { Choice } from './match.ts'
import type { OnEvent } from './events.ts'
import type { Held } from './existing.ts'
import { blobName, linkFile, type ModelsFolder } from '../models-folder.ts'
import { Part } from './partial-file.ts'
import type { SourceEntry } from './source.ts'
import { contradiction, type Wanted } from './required.ts'

export class Intake {
  readonly #missing: readonly Wanted[]
  readonly #choice: Choice
  readonly #parts: { folder: ModelsFolder; onEvent: OnEvent }
  /** Accepted files, by blob. */
  readonly held: Held = new Map()
  /** Facts as found, by the card's name. */
  readonly found = new Map<string, Wanted>()
  /** By the card's name: why the file with that name is not the wanted one. */
  readonly refused: Map<string, string>

  constructor(missing: readonly Wanted[], choice: Choice, parts: { folder: ModelsFolder; onEvent: OnEvent }) {
    this.#missing = missing
    this.#choice = choice
    this.#parts = parts
    this.refused = new Map(choice.refused)
  }

  /** Whether a file may be one of those still missing. */
  wants(path: string): boolean {
    return this.#forWhich(path).length > 0
  }

  /** @throws ModelError `disk_full`, `cannot_write`, what reading throws; the signal's reason */
  async take(entry: SourceEntry, bytes: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> {
    const { folder, onEvent } = this.#parts
    const source = { repo: 'import', revision: '', path: entry.path }
    const partPath = folder.part(blobName({ sha256: null, gitSha1: null }, source))
    const [first] = this.#forWhich(entry.path)
    const name = first?.file.name ?? entry.path
    const part = await Part.open(partPath, null, signal)
    try {
      // An interrupted import starts over: reading from a disk is quick.
      await part.restart()
      onEvent({ event: 'started', name, sizeBytes: entry.sizeBytes, heldBytes: 0 })
      for await (const block of bytes) {
        signal.throwIfAborted()
        await part.append(block)
        onEvent({ event: 'received', name, bytes: block.length })
      }
      await this.#place(entry, part)
    } finally {
      await part.close()
      await rm(partPath, { force: true })
    }
  }

  async #place(entry: SourceEntry, part: Part): Promise<void> {
    const { folder, onEvent } = this.#parts
    const content = part.content()
    const { sizeBytes, sha256 } = content
    let kept: string | null = null
    for (const wanted of this.#forWhich(entry.path)) {
      const { name } = wanted.file
      const wrong = contradiction(wanted, content)
      if (wrong !== null) {
        if (!this.refused.has(name)) this.refused.set(name, `of ${entry.path}, ${wrong}`)
        continue
      }
      const blob = wanted.sha256 === null ? content.sha256 : wanted.blob
      if (kept === null) await part.keep(folder.blob(blob))
      else if (blob !== kept && !this.held.has(blob)) await alsoAs(folder.blob(kept), folder.blob(blob))
      kept ??= blob
      this.held.set(blob, content)
      this.found.set(name, { ...wanted, blob })
      onEvent({ event: 'finished', name, sizeBytes, sha256, evidence: wanted.evidence })
    }
    if (kept !== null) return
    onEvent({ event: 'restarted', name: entry.path, lostBytes: sizeBytes, reason: 'it is a different file' })
  }

  #forWhich(path: string): Wanted[] {
    return this.#missing.filter(
      ({ file: { name } }) =>
        !this.found.has(name) && (this.#choice.entries.get(name) ?? []).some((entry) => entry.path === path),
    )
  }
}

async function alsoAs(from: string, to: string): Promise<void> {
  await rm(to, { force: true })
  await linkFile(from, to)
}
