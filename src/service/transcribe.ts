/**
 * Transcription: from an upload to a transcript that is read while it is being made. It makes no operation and costs
 * nothing, but it is bounded like everything else: so many at once for an account, so many for the engine, so many that
 * wait.
 */
import type { Caller } from '../domain/account.ts'
import { PerAccount } from './concurrency.ts'
import { Live } from './running-work.ts'
import type { Catalog } from './ports.ts'
import type { Queue } from './queue.ts'
import { chooseListener, requireListener, type Wanted } from './transcribe-choice.ts'
import { Transcribing, type TranscribingLimits, type TranscribingParts } from './transcribing.ts'

export interface TranscriptionRequest extends Wanted {
  prompt: string | null
  temperature: number
  /** Whether times of single words are wanted. */
  words: boolean
  upload: Upload
}

export interface Upload {
  path: string
  remove(): void
}

export interface TranscribeParts extends TranscribingParts {
  catalog: Catalog
  queue: Queue
}

export interface TranscribeLimits extends TranscribingLimits {
  concurrency: number
}

export class Transcriptions extends Live<Transcribing> {
  readonly #parts: TranscribeParts
  readonly #limits: TranscribeLimits
  readonly #perAccount: PerAccount

  constructor(parts: TranscribeParts, limits: TranscribeLimits) {
    super()
    this.#parts = parts
    this.#limits = limits
    this.#perAccount = new PerAccount(limits.concurrency, 'transcriptions')
  }

  /**
   * Waits for the first that is heard, so that every failure before it has a real status.
   * @param id of the request
   * @param read reads and checks the upload, which is removed as soon as it has been opened, or refused
   * @param gone aborts when the client has left
   * @throws MynaError of input, lookup or capacity; whatever `Transcribing.start` throws
   */
  async begin(
    caller: Caller,
    id: string,
    read: () => Promise<TranscriptionRequest>,
    gone: AbortSignal,
  ): Promise<Transcribing> {
    this.requireOpen()
    // Before the upload is read: nobody should send hours of audio to learn this.
    requireListener(this.#parts.catalog)
    this.requireWritable()
    const leaveAccount = this.#perAccount.enter(caller.account.id)
    let upload: Upload | null = null
    let transcribing: Transcribing | null = null
    try {
      const request = await read()
      upload = request.upload
      transcribing = this.#admit(caller, id, request)
      this.add(transcribing, leaveAccount)
      await transcribing.start(gone)
      return transcribing
    } finally {
      upload?.remove()
      if (transcribing === null) leaveAccount()
    }
  }

  #admit(caller: Caller, id: string, request: TranscriptionRequest): Transcribing {
    const { card, language } = chooseListener(request, this.#parts.catalog)
    const { task, prompt, temperature, words, upload } = request
    return new Transcribing(this.#parts, this.#limits, {
      id,
      accountId: caller.account.id,
      keyId: caller.key.id,
      order: { model: card.id, task, language, prompt, temperature, words },
      path: upload.path,
      place: this.#parts.queue.reserve(),
    })
  }
}
