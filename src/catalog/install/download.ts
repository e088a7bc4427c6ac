/**
 * Downloads one file from the hub into a blob: resumes where an earlier try or process stopped, checks while it
 * arrives, and gives the blob its name only if the content is right.
 */
import type { Timer } from '../../domain/time.ts'
import type { Content } from './digest.ts'
import type { OnEvent } from './events.ts'
import { type FileBytes, type FileFacts, type Hub, WrongRange } from './hub.ts'
import { OutOfRange } from './hub.ts'
import { Interruption, ModelError } from '../model-error.ts'
import type { ModelsFolder } from '../models-folder.ts'
import { Part } from './partial-file.ts'
import { patiently } from './retry.ts'
import { contradiction, hasHash, placeOf, requireAgreement, type Wanted } from './required.ts'

export interface DownloadParts {
  hub: Hub
  folder: ModelsFolder
  timer: Timer
  random: (bytes: Uint8Array) => Uint8Array
  /** Longest silence in the middle of a file. */
  stallMs: number
  onEvent: OnEvent
}

/**
 * @throws ModelError `other_content` (also after a second download), `disk_full`, `no_hub` and the hub's refusals; the
 * signal's reason. In every case, what has arrived and may be good is kept.
 */
export async function download(wanted: Wanted, parts: DownloadParts, signal: AbortSignal): Promise<Content> {
  const { folder } = parts
  const gitSizeBytes = wanted.gitSha1 === null ? null : wanted.sizeBytes
  const part = await Part.open(folder.part(wanted.blob), gitSizeBytes, signal)
  try {
    return await new Download(wanted, part, parts, signal).run()
  } finally {
    await part.close()
  }
}

class Download {
  readonly #wanted: Wanted
  readonly #part: Part
  readonly #parts: DownloadParts
  readonly #signal: AbortSignal
  /** Identifies the copy that is being read; used only if no hash is known. */
  #etag: string | null = null
  /** The other side has shown that it cannot begin in the middle. */
  #onlyWhole = false
  #isComplete = false
  /** The furthest position so far: reaching it again is not progress. */
  #furthest = 0

  constructor(wanted: Wanted, part: Part, parts: DownloadParts, signal: AbortSignal) {
    this.#wanted = wanted
    this.#part = part
    this.#parts = parts
    this.#signal = signal
  }

  async run(): Promise<Content> {
    const { file, sizeBytes, blob } = this.#wanted
    const { folder, onEvent } = this.#parts
    // What an earlier process left is useful only if a hash over the whole file can verify it.
    if (!hasHash(this.#wanted)) await this.#restart('there is no hash to check it against')
    if (sizeBytes !== null && this.#part.sizeBytes > sizeBytes) await this.#restart('it is longer than the file')
    onEvent({ event: 'started', name: file.name, sizeBytes, heldBytes: this.#part.sizeBytes })
    for (let again = false; ; again = true) {
      await this.#fill()
      const content = this.#part.content()
      const wrong = contradiction(this.#wanted, content)
      if (wrong === null) {
        await this.#part.keep(folder.blob(blob))
        const { evidence } = this.#wanted
        onEvent({ event: 'finished', name: file.name, ...sizeAndHash(content), evidence })
        return content
      }
      await this.#restart(wrong)
      this.#furthest = 0
      if (again)
        throw new ModelError(
          'other_content',
          `Checksum mismatch for ${file.path} of ${file.repo} (downloaded twice): ${wrong}. Check the mirror, or try ` +
            'later.',
        )
    }
  }

  /** Until all bytes have arrived. */
  async #fill(): Promise<void> {
    const { timer, random, onEvent } = this.#parts
    const { name } = this.#wanted.file
    const onPause = (reason: string, pauseMs: number) => onEvent({ event: 'retrying', name, reason, pauseMs })
    const attempt = async () => {
      if (this.#part.sizeBytes === this.#wanted.sizeBytes || this.#isComplete) return
      await this.#attempt((bytes) => onEvent({ event: 'received', name, bytes }))
    }
    const progress = () => (this.#furthest = Math.max(this.#furthest, this.#part.sizeBytes))
    await patiently(attempt, { timer, random, signal: this.#signal, progress, onPause })
  }

  async #attempt(onReceived: (bytes: number) => void): Promise<void> {
    const { hub } = this.#parts
    if (this.#onlyWhole) await this.#restart('the server cannot start in the middle')
    const etag = hasHash(this.#wanted) ? null : this.#etag
    let answer: FileBytes
    try {
      const check = (facts: FileFacts) => requireAgreement(this.#wanted, facts)
      answer = await hub.read(placeOf(this.#wanted), this.#part.sizeBytes, etag, this.#signal, check)
    } catch (error) {
      if (error instanceof WrongRange) this.#onlyWhole = true
      if (error instanceof OutOfRange) await this.#restart(error.message)
      throw error
    }
    const { body, fromBytes, totalBytes } = answer
    try {
      requireAgreement(this.#wanted, { sizeBytes: totalBytes, sha256: null, gitSha1: null })
      if (fromBytes !== this.#part.sizeBytes) await this.#restart('the server started from the beginning')
      this.#etag = answer.etag
      for await (const bytes of this.#watched(body)) {
        await this.#part.append(bytes)
        onReceived(bytes.length)
        this.#requireEnd(totalBytes)
      }
    } catch (error) {
      await body.cancel().catch(() => {})
      throw error
    }
    const due = this.#wanted.sizeBytes ?? totalBytes ?? 0
    if (this.#part.sizeBytes < due) throw new Interruption('the connection ended early')
    this.#isComplete = true
  }

  /** A side that sends more than it said would fill the disk. */
  #requireEnd(totalBytes: number | null): void {
    const limit = this.#wanted.sizeBytes ?? totalBytes
    if (limit === null || this.#part.sizeBytes <= limit) return
    const { path, repo } = this.#wanted.file
    throw new ModelError('other_content', `${path} of ${repo} is longer than ${limit} bytes.`)
  }

  /** The bytes until the end, a failure or silence. @throws Interruption, the signal's reason */
  async *#watched(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
    const reader = body.getReader()
    try {
      for (;;) {
        const { value, done } = await this.#inTime(() => reader.read())
        if (done) return
        yield value
      }
    } finally {
      // Not awaited: a silent server may never end its body.
      reader.cancel().catch(() => {})
    }
  }

  /** The deadline counts only while bytes are awaited, not while they are written. */
  async #inTime<T>(read: () => Promise<T>): Promise<T> {
    const { timer, stallMs } = this.#parts
    const ended = Promise.withResolvers<never>()
    const abort = () => ended.reject(this.#signal.reason)
    const silence = new Interruption(`nothing has arrived for ${Math.round(stallMs / 1000)} s`)
    const cancel = timer.after(stallMs, () => ended.reject(silence))
    this.#signal.addEventListener('abort', abort, { once: true })
    try {
      this.#signal.throwIfAborted()
      return await Promise.race([read().catch(brokenOff), ended.promise])
    } finally {
      cancel()
      this.#signal.removeEventListener('abort', abort)
    }
  }

  async #restart(reason: string): Promise<void> {
    const lostBytes = this.#part.sizeBytes
    this.#etag = null
    this.#isComplete = false
    if (lostBytes === 0) return
    await this.#part.restart()
    this.#parts.onEvent({ event: 'restarted', name: this.#wanted.file.name, lostBytes, reason })
  }
}

const sizeAndHash = ({ sizeBytes, sha256 }: Content) => ({ sizeBytes, sha256 })

function brokenOff(cause: unknown): never {
  const { code, message } = cause as { code?: string; message: string }
  throw new Interruption(`the connection broke (${code ?? message})`, null, { cause })
}
