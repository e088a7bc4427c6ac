/**
 * Transcription: from an upload to a transcript that is read while it is being made. It creates no operation and costs
 * nothing, but it has limits like everything else: how many run at once for an account and for the engine, and how many
 * wait.
 */
import type { Caller } from '../domain/account.ts'
import { PerAccount } from './concurrency.ts'
import { Live } from './running-work.ts'
import { liveSound, oneBlock } from './live-sound.ts'
import type { Catalog } from './ports.ts'
import type { OpenSound, StreamDecoder, TranscriptionOrder } from './ports/transcription.ts'
import { Queue } from './queue.ts'
import { chooseListener, requireListener, type Wanted } from './transcribe-choice.ts'
import { Transcribing, type TranscribingLimits, type TranscribingParts } from './transcribing.ts'

/** How a sound is to be listened to. */
export interface ListeningRequest extends Wanted {
  prompt: string | null
  temperature: number
  /** Whether times of single words are wanted. */
  words: boolean
  /** As of the order. */
  early?: boolean
}

export interface TranscriptionRequest extends ListeningRequest {
  upload: Upload
}

export interface Upload {
  path: string
  remove(): void
}

export interface TranscribeParts extends TranscribingParts {
  catalog: Catalog
  decoder: StreamDecoder
  queue: Queue
}

export interface TranscribeLimits extends TranscribingLimits {
  concurrency: number
}

/** The engine takes turns with them window by window; each holds no more than what is being said. */
const [liveStreams, liveWaiting] = [64, 256]
/** One is computed while the next is on its way to the engine. */
const guessesAtOnce = 2

export class Transcriptions extends Live<Transcribing> {
  readonly #parts: TranscribeParts
  readonly #limits: TranscribeLimits
  readonly #perAccount: PerAccount
  /** Live audio has a queue of its own, so that speakers do not wait behind a long file. */
  readonly #live: Queue
  #guesses = 0

  constructor(parts: TranscribeParts, limits: TranscribeLimits) {
    super()
    this.#parts = parts
    this.#limits = limits
    this.#perAccount = new PerAccount(limits.concurrency, 'transcriptions')
    this.#live = new Queue(liveStreams, liveWaiting, parts.timer)
  }

  /** @throws MynaError `transcription_unavailable` when no model at all is installed */
  requireModel(): void {
    requireListener(this.#parts.catalog)
  }

  /** @throws MynaError as `chooseListener`: with it, no sound could be transcribed */
  requireListener(wanted: Wanted): void {
    chooseListener(wanted, this.#parts.catalog)
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
    // Before the upload is read, so that a client need not send hours of audio to learn this.
    requireListener(this.#parts.catalog)
    this.requireWritable()
    const leaveAccount = await this.#enter(caller, gone)
    this.#prepareOnly()
    let upload: Upload | null = null
    let transcribing: Transcribing | null = null
    try {
      const request = await read()
      upload = request.upload
      const { path } = upload
      const open: OpenSound = (options, signal) => this.#parts.decoder.open(path, options, signal)
      transcribing = this.#admit(caller, id, request, open, this.#parts.queue)
      this.add(transcribing, leaveAccount)
      await transcribing.start(gone)
      return transcribing
    } finally {
      upload?.remove()
      if (transcribing === null) leaveAccount()
    }
  }

  /**
   * Listens to a sound that is being recorded, as it comes; otherwise like `begin`.
   * @param pcm mono, 16 kHz; its end is the end of the sound
   */
  async listen(
    caller: Caller,
    id: string,
    request: ListeningRequest,
    pcm: AsyncIterable<Int16Array>,
    gone: AbortSignal,
  ): Promise<Transcribing> {
    this.requireOpen()
    requireListener(this.#parts.catalog)
    this.requireWritable()
    const leaveAccount = await this.#enter(caller, gone)
    let transcribing: Transcribing | null = null
    try {
      const open: OpenSound = async ({ maxSeconds }) => liveSound(pcm, maxSeconds)
      transcribing = this.#admit(caller, id, request, open, this.#live)
    } finally {
      if (transcribing === null) leaveAccount()
    }
    this.add(transcribing, leaveAccount)
    await transcribing.start(gone)
    return transcribing
  }

  /**
   * A guess at what the audio so far says, shown while the speaker is still talking. No record of it is kept. Only a
   * few are made at once (`canGuess`), so that final texts do not wait for guesses.
   * @param pcm mono, 16 kHz
   * @throws MynaError as `listen`; the signal's reason
   */
  async guess(caller: Caller, request: ListeningRequest, pcm: Int16Array, signal: AbortSignal): Promise<string> {
    this.#guesses++
    try {
      const order = this.#order(request, caller.account.id)
      let text = ''
      for await (const { segments } of this.#parts.engine.transcribe(order, oneBlock(pcm), signal)) {
        for (const segment of segments) text += segment.text
      }
      return text.trim()
    } finally {
      this.#guesses--
    }
  }

  /** Where there is but one model, it is loaded while the clip arrives; otherwise the form has to name it first. */
  #prepareOnly(): void {
    const [only, other] = this.#parts.catalog.ranked('automatic-speech-recognition')
    if (only !== undefined && other === undefined) this.#parts.engine.prepare(only.id)
  }

  get canGuess(): boolean {
    return this.#guesses < guessesAtOnce
  }

  /** Those beyond what an account may have at once wait for their turn; nothing of them is read meanwhile. */
  #enter(caller: Caller, gone: AbortSignal): Promise<() => void> {
    const signal = AbortSignal.any([gone, this.closing])
    const patience = { timer: this.#parts.timer, maxMs: this.#limits.queueWaitMs, signal }
    return this.#perAccount.enterInTurn(caller.account.id, patience, caller.account.limits.transcriptionConcurrency)
  }

  /** @param share as of the order */
  #order(request: ListeningRequest, share: string): TranscriptionOrder {
    const { card, language } = chooseListener(request, this.#parts.catalog)
    const { task, prompt, temperature, words, early = false } = request
    return { model: card.id, share, task, language, prompt, temperature, words, early }
  }

  #admit(caller: Caller, id: string, request: ListeningRequest, open: OpenSound, queue: Queue): Transcribing {
    const order = this.#order(request, caller.account.id)
    return new Transcribing(this.#parts, this.#limits, {
      id,
      accountId: caller.account.id,
      keyId: caller.key.id,
      maxPending: caller.account.limits.transcriptionConcurrency ?? this.#limits.concurrency,
      order,
      open,
      place: queue.reserve(),
    })
  }
}
