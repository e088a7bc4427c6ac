/**
 * Speaking: from a checked request to a stream of audio whose end is settled, whatever the end is. Everything that can
 * be refused is refused before the price is held; everything that can fail before the first audio fails before the
 * answer has a status. `speaking.ts` is the stream itself.
 */
import type { Caller } from '../domain/account.ts'
import { countChars, speechPriceMicros } from '../domain/charge.ts'
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import { fingerprint, hashIdempotencyKey } from '../domain/idempotency.ts'
import { isLanguageAmong } from '../domain/language.ts'
import type { SpeechRequest } from '../domain/speech.ts'
import { speakable } from '../text/speakable.ts'
import { PerAccount } from './concurrency.ts'
import { countRefusedKey, Live } from './running-work.ts'
import type { SpeechAdmission, SpeechOrder } from './ports.ts'
import type { SpeechPlace, SpeechQueue } from './speech-queue.ts'
import { estimateSpeech } from './speech-length.ts'
import { Speaking, type SpeakingLimits, type SpeakingParts } from './speaking.ts'
import type { VoiceNames } from './voice-names.ts'
import { type Choice, type ChoiceParts, chooseVoice } from './voices.ts'

export interface SpeakParts extends ChoiceParts, SpeakingParts {
  queue: SpeechQueue
  random: (bytes: Uint8Array) => Uint8Array
}

export interface SpeakLimits extends SpeakingLimits {
  microsPerChar: number
  voiceNames: VoiceNames
  concurrency: number
  queueWaitMs: number
  /** Longest that one request may take to speak, by estimate. */
  maxSpeechSeconds: number
}

export class Speech extends Live<Speaking> {
  readonly #parts: SpeakParts
  readonly #limits: SpeakLimits
  readonly #perAccount: PerAccount

  constructor(parts: SpeakParts, limits: SpeakLimits) {
    super()
    this.#parts = parts
    this.#limits = limits
    this.#perAccount = new PerAccount(limits.concurrency, 'speech requests')
  }

  /**
   * Waits for a place, admits the request and waits for its first audio.
   * @param idempotencyKey as the client sent it; null: none
   * @param gone aborts when the client has left
   * @throws MynaError of idempotency, lookup, money or capacity before there is an operation; afterwards
   * `operation_cancelled`, `engine_overloaded`, `engine_unavailable`, `generation_failed` with its operation id
   */
  async begin(
    caller: Caller,
    request: SpeechRequest,
    idempotencyKey: string | null,
    gone: AbortSignal,
  ): Promise<Speaking> {
    this.requireOpen()
    const leaveAccount = this.#perAccount.enter(caller.account.id, caller.account.limits.speechConcurrency)
    let speaking: Speaking | null = null
    try {
      speaking = await this.#admit(caller, request, idempotencyKey, gone)
    } finally {
      if (speaking === null) leaveAccount()
    }
    this.add(speaking, leaveAccount)
    await speaking.start(gone)
    return speaking
  }

  async #admit(
    caller: Caller,
    request: SpeechRequest,
    idempotencyKey: string | null,
    gone: AbortSignal,
  ): Promise<Speaking> {
    const { ledger } = this.#parts
    const keyHash = idempotencyKey === null ? null : hashIdempotencyKey(idempotencyKey)
    const print = fingerprint({ ...request, responseFormat: request.format })
    if (keyHash !== null)
      await countRefusedKey(this.#parts.meter, ledger.checkKey(caller.account.id, 'speech', keyHash, print))
    const { voiceNames } = this.#limits
    // Also loads the voice: speech that was admitted can continue even if the voice is deleted from the database.
    const choice = await chooseVoice(caller, request, voiceNames, this.#parts)
    requireSpeakable(request, choice)
    const soundSeconds = await estimateSpeech(request.input, request.speed, this.#limits.maxSpeechSeconds)
    const inputChars = countChars(request.input)
    const priceMicros = speechPriceMicros(inputChars, this.#limits.microsPerChar)
    requireBalance(caller, priceMicros)
    this.requireWritable()
    const place = this.#parts.queue.reserve({
      accountId: caller.account.id,
      model: choice.card.id,
      soundMs: 1000 * soundSeconds,
      format: request.format,
    })
    try {
      await this.#turn(place, gone)
      const admission: SpeechAdmission = {
        operationId: newId('op', this.#parts.clock.nowMs(), this.#parts.random),
        accountId: caller.account.id,
        keyId: caller.key.id,
        model: choice.card.id,
        voiceId: choice.voiceId,
        inputChars,
        priceMicros,
        keyHash,
        fingerprint: print,
        maxPending: caller.account.limits.speechConcurrency ?? this.#limits.concurrency,
      }
      const operation = await countRefusedKey(this.#parts.meter, ledger.admitSpeech(admission))
      const order = orderOf(caller, request, choice)
      return new Speaking(this.#parts, this.#limits, {
        operation,
        order,
        format: request.format,
        place,
        warning: choice.warning,
      })
    } catch (error) {
      place.leave()
      throw error
    }
  }

  /** Nothing is held meanwhile: who leaves, or is refused, leaves no trace. */
  async #turn(place: SpeechPlace, gone: AbortSignal): Promise<void> {
    try {
      await place.turn(this.#limits.queueWaitMs, AbortSignal.any([gone, this.closing]))
    } catch (error) {
      if (!gone.aborted) throw error
      throw new MynaError('request_timeout', 'The client left before its turn came.')
    }
    this.requireOpen()
    this.requireWritable()
  }
}

const orderOf = (caller: Caller, request: SpeechRequest, { card, voiceId, voiceState }: Choice): SpeechOrder => ({
  model: card.id,
  share: caller.account.id,
  voiceId,
  text: request.input,
  voiceState,
  speed: request.speed,
  sampleRateHz: request.sampleRateHz,
  language: request.language,
  instructions: request.instructions,
  seed: request.seed,
  ...(request.wordTimes === true && { wordTimes: true }),
})

function requireSpeakable(request: SpeechRequest, choice: Choice): void {
  const { card } = choice
  const { language } = request
  if (language !== null && !isLanguageAmong(language, card.languages)) {
    const message = `Invalid value: '${language}'. The model '${card.id}' speaks: ${card.languages.join(', ')}.`
    throw new MynaError('unsupported_value', message, { param: 'language' })
  }
  // Text without a letter or a number has nothing to speak: the engine answers with a moment of silence.
  if (!/[\p{L}\p{N}]/u.test(request.input) || speakable(request.input, card.scripts)) return
  const message = `The model '${card.id}' cannot speak any of this input: it reads ${card.scripts.join(', ')} script.`
  throw new MynaError('unsupported_value', message, { param: 'input' })
}

/** Only for the order of refusals: admission itself decides, in its transaction. */
function requireBalance(caller: Caller, priceMicros: number): void {
  const { balanceMicros } = caller.account
  if (balanceMicros === null || balanceMicros >= priceMicros) return
  const message = `This request costs ${priceMicros} micros; the account has ${balanceMicros}.`
  throw new MynaError('insufficient_balance', message, {
    extras: { required_micros: priceMicros, balance_micros: balanceMicros },
  })
}
