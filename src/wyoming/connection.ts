/**
 * One client. Its requests are handled one after another, while its events continue to be read: that is how an
 * interruption is noticed, which ends the work. A failed request is an `error` event; the connection stays. Only bytes
 * that are not an event close it.
 *
 * While a text is being streamed, Home Assistant sends the whole of it once more as `synthesize`, for servers that
 * cannot stream: that one is ignored.
 */
import { MynaError } from '../domain/error.ts'
import { EventReader, FramingError, type WyomingEvent } from './framing.ts'
import { infoOf } from './info.ts'
import { type Wish, WyomingListening, wishOf } from './listening.ts'
import { type Send, textOf, type WyomingParts } from './parts.ts'
import { GrowingText, speak, voiceOf } from './speaking.ts'

/** Requests of one client that wait for the one that is being worked on. */
const waitingMax = 16
/** Text of a stream that is not spoken yet, in UTF-16 units. */
const unspokenMax = 1_000_000
const voicesShown = 1000

const noWish: Wish = { model: null, language: null, prompt: null }

export class Connection {
  readonly #parts: WyomingParts
  readonly #send: Send
  readonly #reader = new EventReader()
  readonly #abort = new AbortController()
  #last: Promise<void> = Promise.resolve()
  #waiting = 0
  #wish = noWish
  #listening: WyomingListening | null = null
  #stream: GrowingText | null = null

  /** @param send resolves once the client has taken what was sent before */
  constructor(parts: WyomingParts, send: Send) {
    this.#parts = parts
    this.#send = send
  }

  /** Whether something is worked on that needs nothing more of the client. */
  get isBusy(): boolean {
    return this.#waiting > 0 && this.#listening === null && this.#stream === null
  }

  /** Resolves when more may come. @throws FramingError when the connection must be closed */
  async receive(bytes: Uint8Array): Promise<void> {
    for (const event of this.#reader.push(bytes)) await this.#take(event)
  }

  /** The client has disconnected, or the server has. */
  close(): void {
    this.#abort.abort(new Error('the connection is gone'))
    this.#listening?.drop()
    this.#stream?.end()
  }

  async #take(event: WyomingEvent): Promise<void> {
    switch (event.type) {
      case 'describe':
        return this.#queue(async () => this.#send('info', await this.#info()))
      case 'ping':
        return this.#queue(() => this.#send('pong', { text: textOf(event.data, 'text') }))
      case 'transcribe':
        this.#wish = wishOf(event)
        return
      case 'audio-start':
        return this.#startListening(event)
      case 'audio-chunk':
        return event.payload === null ? undefined : this.#listening?.write(event.payload)
      case 'audio-stop':
        this.#listening?.end()
        this.#listening = null
        return
      case 'synthesize':
        return this.#synthesize(event)
      case 'synthesize-start':
        return this.#startStream(event)
      case 'synthesize-chunk':
        return this.#growStream(textOf(event.data, 'text') ?? '')
      case 'synthesize-stop':
        this.#stream?.end()
        this.#stream = null
        return
    }
  }

  #startListening(event: WyomingEvent): void {
    const wish = this.#wish
    this.#wish = noWish
    this.#listening?.drop()
    this.#listening = null
    try {
      const listening = new WyomingListening(event)
      this.#listening = listening
      this.#queue(() => listening.run(this.#parts, wish, this.#send, this.#abort.signal))
    } catch (error) {
      if (error instanceof FramingError) throw error
      this.#queue(() => Promise.reject(error))
    }
  }

  #synthesize(event: WyomingEvent): void {
    if (this.#stream !== null) return
    const text = new GrowingText()
    text.add(textOf(event.data, 'text') ?? '')
    text.end()
    this.#queue(() => speak(this.#parts, voiceOf(event), text, this.#send, this.#abort.signal))
  }

  #startStream(event: WyomingEvent): void {
    this.#stream?.end()
    const text = new GrowingText()
    this.#stream = text
    this.#queue(async () => {
      await speak(this.#parts, voiceOf(event), text, this.#send, this.#abort.signal)
      await this.#send('synthesize-stopped')
    })
  }

  #growStream(text: string): void {
    if (this.#stream === null) return
    if (this.#stream.length + text.length > unspokenMax) throw new FramingError('a text that never ends')
    this.#stream.add(text)
  }

  #queue(work: () => Promise<void>): void {
    if (this.#waiting >= waitingMax) throw new FramingError('too many requests at once')
    this.#waiting++
    this.#last = this.#last
      .then(work)
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#waiting--)
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#abort.signal.aborted) return
    if (!(error instanceof MynaError)) this.#parts.report('a Wyoming request failed', error)
    const known = error instanceof MynaError ? error : new MynaError('internal_error', 'Internal server error.')
    await this.#send('error', { text: known.message, code: known.code }).catch(() => {})
  }

  async #info() {
    const { version, catalog, library, account } = this.#parts
    const caller = await account.caller()
    const { voices } = await library.list(caller, {
      owner: 'all',
      status: 'ready',
      category: null,
      language: null,
      search: null,
      order: 'asc',
      after: null,
      before: null,
      limit: voicesShown,
    })
    return infoOf({
      version,
      recognisers: catalog.ranked('automatic-speech-recognition'),
      speakers: new Map(catalog.ranked('text-to-speech').map((card) => [card.id, card])),
      voices,
    })
  }
}
