/**
 * One realtime transcription session: the client's events in, the server's out. Audio is cut into turns by the detector
 * or by the client's commits; turns become items and, in their order, transcripts.
 *
 * Clients differ in what they send first and when; nothing here waits for any of it. Most give up at an `error` event,
 * so only failures without another answer are reported as one.
 */
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import { isShortJson } from '../domain/short-json.ts'
import { SessionConfig, type TurnSettings } from './config.ts'
import {
  completedEvent,
  deltaEvent,
  errorEvent,
  failedEvent,
  type Fault,
  type ServerEvent,
  userItem,
} from './events.ts'
import { heardRateHz, samplesPerMs, SoundInput } from './input.ts'
import { Outbox, type Wire } from './outbox.ts'
import {
  accessEveryMs,
  backlogMaxSeconds,
  idleMs,
  leastHeardMs,
  type Opening,
  type RealtimeParts,
  sessionMaxMs,
} from './parts.ts'
import { Tape } from './tape.ts'
import { Item, Transcripts, type Turn } from './transcripts.ts'
import { TurnCutter } from './turn-cutter.ts'

/** Items that a client may still ask for. */
const itemsKept = 200
/** Where speech is while the client ends items: a long pause ends a part of one. */
const partSettings = { threshold: 0.5, prefixMs: 1000, silenceMs: 1500 }
/** All of them come back with each change. */
const maxSettingsChars = 65_536

type ClientEvent = Readonly<Record<string, unknown>> & { readonly type: string }

export class RealtimeSession {
  readonly id: string
  readonly #parts: RealtimeParts
  readonly #opening: Opening
  readonly #config: SessionConfig
  readonly #outbox: Outbox
  readonly #gone = new AbortController()
  readonly #tape = new Tape()
  readonly #transcripts: Transcripts
  readonly #items = new Map<string, string | null>()
  #input: SoundInput
  #cutter: TurnCutter
  /** End of the last turn: the next one begins here. */
  #cut = 0
  /** The item that the client has not committed yet; null: none has begun, or turns are the detector's. */
  #open: Item | null = null
  #lastItemId: string | null = null
  #stopIdle = () => {}
  #stopWatching = () => {}

  constructor(parts: RealtimeParts, opening: Opening, wire: Wire) {
    const nowMs = parts.clock.nowMs()
    this.id = newId('sess', nowMs, parts.random)
    this.#parts = parts
    this.#opening = opening
    this.#outbox = new Outbox(wire)
    this.#config = new SessionConfig({
      id: this.id,
      expiresAtS: Math.floor((nowMs + sessionMaxMs) / 1000),
      model: opening.model,
    })
    this.#config.update(opening.session)
    this.#input = new SoundInput(this.#config.format)
    const news = {
      delta: (itemId: string, delta: string) => this.#emit(deltaEvent(itemId, delta)),
      completed: (itemId: string, transcript: string, language: string | null, seconds: number) => {
        if (this.#items.has(itemId)) this.#items.set(itemId, transcript)
        this.#emit(completedEvent(itemId, transcript, language, seconds))
      },
      failed: (itemId: string, error: MynaError) => this.#emit(failedEvent(itemId, error)),
    }
    this.#transcripts = new Transcripts(parts, () => this.#access(), news, this.#gone.signal)
    this.#cutter = this.#newCutter()
    this.#emit({ type: 'session.created', session: this.#config })
    this.#watchTime()
  }

  /** @param message parsed where it was JSON; text or bytes where it was not */
  receive(message: unknown): void {
    if (this.#gone.signal.aborted) return
    this.#watchIdle()
    const event = eventOf(message)
    if (event === null) return this.#refuse({ code: 'invalid_event', message: "The 'type' field is missing." }, null)
    const { event_id: id } = event
    this.#take(event, typeof id === 'string' ? id : null)
  }

  drained(): void {
    this.#outbox.drained()
  }

  /** The socket is gone, whichever side closed it. */
  closed(): void {
    this.#gone.abort(new Error('the session is over'))
    this.#cutter.close()
    this.#stopIdle()
    this.#stopWatching()
  }

  close(code: number, reason: string): void {
    this.#outbox.close(code, reason)
    this.closed()
  }

  #take(event: ClientEvent, eventId: string | null): void {
    switch (event.type) {
      case 'session.update':
        return this.#update(event.session, eventId)
      case 'input_audio_buffer.append':
        return this.#append(event.audio, eventId)
      case 'input_audio_buffer.commit':
        return this.#commit(eventId)
      case 'input_audio_buffer.clear':
        this.#cut = this.#tape.end
        this.#tape.dropBefore(this.#cut)
        this.#dropOpen()
        this.#forget()
        return this.#emit({ type: 'input_audio_buffer.cleared' })
      case 'conversation.item.retrieve':
        return this.#retrieve(event.item_id, eventId)
      case 'conversation.item.delete':
        return this.#delete(event.item_id, eventId)
      case 'response.create':
        return this.#refuse(
          { code: 'unsupported_value', message: 'This server transcribes; it holds no conversation.', param: 'type' },
          eventId,
        )
      case 'response.cancel':
        return this.#refuse(
          { code: 'response_cancel_not_active', message: 'Cancellation failed: no active response found' },
          eventId,
        )
      // Shared with other kinds of connection.
      case 'output_audio_buffer.clear':
        return
    }
    const shown = event.type.slice(0, 60).toWellFormed()
    const message = `Invalid value: '${shown}'. Supported values are: ${known.join(', ')}.`
    this.#refuse({ code: 'invalid_value', message, param: 'type' }, eventId)
  }

  #update(session: unknown, eventId: string | null): void {
    if (!isShortJson(session, maxSettingsChars)) {
      const message = `Invalid 'session': longer than ${maxSettingsChars} characters, or nested too deeply.`
      return this.#refuse({ code: 'string_above_max_length', message, param: 'session' }, eventId)
    }
    const { turns } = this.#config
    this.#config.update(session)
    const { format } = this.#config
    const { encoding, rateHz } = this.#input.format
    if (format.encoding !== encoding || format.rateHz !== rateHz) this.#input = new SoundInput(format)
    this.#applyTurns(turns)
    this.#emit({ type: 'session.updated', session: this.#config })
    // LiveKit and the Vercel AI SDK ignore turns that fail: their users would wait for a text that never comes.
    const fault = this.#transcripts.faultOf(this.#config.wish)
    if (fault === null) return
    const { code, message, param } = fault
    this.#refuse(
      { code, message, ...(param !== null && { param: `session.audio.input.transcription.${param}` }) },
      eventId,
    )
  }

  #applyTurns(before: TurnSettings | null): void {
    const { turns } = this.#config
    if (turns !== null && before !== null) this.#cutter.settings = turns
    if ((turns === null) === (before === null)) return
    this.#cutter.close()
    this.#dropOpen()
    this.#cutter = this.#newCutter()
  }

  #newCutter(): TurnCutter {
    const { turns } = this.#config
    return turns === null ? this.#partCutter() : this.#turnCutter(turns)
  }

  /** Turns of the detector: each is an item. */
  #turnCutter(settings: TurnSettings): TurnCutter {
    const wishes = { settings, from: this.#tape.end, keepsUnheard: false }
    return new TurnCutter(this.#parts, wishes, this.#tape, {
      began: (turn) => {
        const startMs = Math.round(turn.start / samplesPerMs)
        this.#emit({ type: 'input_audio_buffer.speech_started', audio_start_ms: startMs, item_id: turn.item.id })
      },
      ended: (turn, end) => {
        const endMs = Math.round(end / samplesPerMs)
        this.#emit({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: endMs, item_id: turn.item.id })
        this.#commitTurn(turn, end)
      },
      goesOn: (turn, end) => this.#guess(turn, end),
      failed: (error) => this.#fail(error),
      newItem: () => this.#newItem(),
    })
  }

  /** Turns of the client: the detector only says which parts of them have been said. */
  #partCutter(): TurnCutter {
    const from = Math.max(this.#cut, this.#tape.begin)
    return new TurnCutter(this.#parts, { settings: partSettings, from, keepsUnheard: true }, this.#tape, {
      began: () => {},
      ended: (turn, end) => this.#transcribe(turn, end, false),
      goesOn: (turn, end) => this.#guess(turn, end),
      // Commits do without the detector.
      failed: () => {},
      newItem: () => (this.#open ??= this.#newItem()),
    })
  }

  #guess(turn: Turn, end: number): boolean {
    if (!this.#transcripts.canGuess(turn)) return false
    void this.#transcripts.guess(turn, this.#tape.between(turn.start, end), this.#config.wish)
    return true
  }

  /** What came before does not matter any more. A client that commits need not wait until the detector has heard it. */
  #forget(): void {
    if (this.#config.turns !== null || this.#cutter.unheardSamples < heardRateHz) return this.#cutter.forget()
    this.#cutter.close()
    this.#cutter = this.#newCutter()
  }

  #dropOpen(): void {
    if (this.#open !== null) this.#open.isDropped = true
    this.#open = null
  }

  #record(pcm: Int16Array): void {
    this.#tape.append(pcm)
    this.#cutter.write(pcm)
  }

  #append(audio: unknown, eventId: string | null): void {
    // Everything else would stand still while hours of sound are decoded.
    if (typeof audio === 'string' && this.#input.secondsOf(audio) > backlogMaxSeconds) return this.#overflow(eventId)
    const pcm = typeof audio === 'string' ? this.#input.push(audio) : null
    if (pcm === null) {
      const fault = { code: 'invalid_value', message: "Invalid 'audio'. Expected base64-encoded audio bytes." }
      return this.#refuse({ ...fault, param: 'audio' }, eventId)
    }
    this.#record(pcm)
    const buffered = this.#tape.end - Math.max(this.#cut, this.#tape.begin)
    const held = Math.max(buffered, this.#cutter.unheardSamples) + this.#transcripts.waitingSamples
    if (held > backlogMaxSeconds * heardRateHz) this.#overflow(eventId)
  }

  #overflow(eventId: string | null): void {
    const message = `More than ${backlogMaxSeconds} seconds of audio are waiting. Commit more often, or send slower.`
    this.#refuse({ code: 'input_audio_buffer_full', message }, eventId)
    this.close(1009, 'Too much audio is waiting.')
  }

  #commit(eventId: string | null): void {
    if (this.#config.turns !== null) {
      // The detector cuts turns: either a turn is running, which ends here, or there is nothing to commit.
      const turn = this.#cutter.cut()
      if (turn !== null) this.#commitTurn(turn, this.#cutter.at)
      return
    }
    this.#record(this.#input.flush())
    const heldMs = (this.#tape.end - Math.max(this.#cut, this.#tape.begin)) / samplesPerMs
    if (heldMs < leastHeardMs && this.#open === null) {
      const message =
        'Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, ' +
        `but buffer only has ${heldMs.toFixed(2)}ms of audio.`
      return this.#refuse({ code: 'input_audio_buffer_commit_empty', message }, eventId)
    }
    const turn = this.#cutter.take()
    this.#open = null
    this.#commitTurn(turn, this.#tape.end)
    this.#forget()
  }

  #commitTurn(turn: Turn, end: number): void {
    const { id } = turn.item
    const item = userItem(id)
    const previous = { previous_item_id: this.#lastItemId }
    this.#lastItemId = id
    this.#items.set(id, null)
    if (this.#items.size > itemsKept) this.#items.delete(this.#items.keys().next().value!)
    this.#emit({ type: 'input_audio_buffer.committed', ...previous, item_id: id })
    this.#emit({ type: 'conversation.item.added', ...previous, item })
    this.#emit({ type: 'conversation.item.done', ...previous, item })
    this.#transcribe(turn, end, true)
  }

  #transcribe(turn: Turn, end: number, isLast: boolean): void {
    const pcm = this.#tape.between(turn.start, end)
    this.#cut = end
    this.#tape.dropBefore(end)
    this.#transcripts.add(turn, pcm, this.#config.wish, isLast)
  }

  #retrieve(itemId: unknown, eventId: string | null): void {
    const transcript = typeof itemId === 'string' ? this.#items.get(itemId) : undefined
    if (transcript === undefined) return this.#noSuchItem('retrieve', 'retrieving', itemId, eventId)
    this.#emit({ type: 'conversation.item.retrieved', item: userItem(String(itemId), transcript) })
  }

  #delete(itemId: unknown, eventId: string | null): void {
    if (!this.#items.delete(String(itemId))) return this.#noSuchItem('delete', 'deleting', itemId, eventId)
    this.#emit({ type: 'conversation.item.deleted', item_id: itemId })
  }

  #noSuchItem(verb: string, doing: string, itemId: unknown, eventId: string | null): void {
    const shown = String(itemId).slice(0, 60).toWellFormed()
    const message = `Error ${doing} item: the item with id '${shown}' does not exist.`
    this.#refuse({ code: `item_${verb}_invalid_item_id`, message, param: 'item_id' }, eventId)
  }

  /** The engine is gone and does not come back. */
  #fail({ code, message }: MynaError): void {
    this.#refuse({ code, message, isOurs: true }, null)
    this.close(1013, 'The engine is not available.')
  }

  /** A key that is revoked ends the session it opened. @throws MynaError */
  async #access() {
    try {
      return await this.#opening.access()
    } catch (error) {
      if (error instanceof MynaError) this.close(1008, error.message)
      throw error
    }
  }

  #watchTime(): void {
    this.#watchIdle()
    const endMs = this.#parts.clock.monotonicMs() + sessionMaxMs
    const look = () => {
      if (this.#parts.clock.monotonicMs() >= endMs) return this.close(1000, 'The session has lasted an hour.')
      void this.#access().catch(() => {})
      this.#stopWatching = this.#parts.timer.after(accessEveryMs, look)
    }
    this.#stopWatching = this.#parts.timer.after(accessEveryMs, look)
  }

  #watchIdle(): void {
    this.#stopIdle()
    this.#stopIdle = this.#parts.timer.after(idleMs, () => this.close(1000, 'Nothing was sent for a long time.'))
  }

  #newItem(): Item {
    return new Item(newId('item', this.#parts.clock.nowMs(), this.#parts.random))
  }

  #refuse(fault: Fault, eventId: string | null): void {
    this.#emit(errorEvent(fault, eventId))
  }

  #emit({ type, ...rest }: ServerEvent): void {
    if (this.#gone.signal.aborted) return
    const id = newId('event', this.#parts.clock.nowMs(), this.#parts.random)
    this.#outbox.send(JSON.stringify({ type, event_id: id, ...rest }))
  }
}

const known = [
  'session.update',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'conversation.item.retrieve',
  'conversation.item.delete',
]

const eventOf = (message: unknown): ClientEvent | null =>
  typeof message === 'object' && message !== null && 'type' in message && typeof message.type === 'string'
    ? (message as ClientEvent)
    : null
