/**
 * The configuration of a realtime session: OpenAI's session object of the type `transcription`, as the client sees it
 * whole after each change, and what it means here. Unknown settings are ignored, never refused: many clients give up a
 * session at the first `error` event.
 */
import { languageCode } from '../domain/language.ts'

export type Encoding = 'pcm' | 'pcmu' | 'pcma'

export interface InputFormat {
  encoding: Encoding
  rateHz: number
}

/** When a turn begins and ends. */
export interface TurnSettings {
  /** Probability of speech at which a turn begins. */
  threshold: number
  /** How much audio before speech belongs to the turn. */
  prefixMs: number
  /** Silence that ends it. */
  silenceMs: number
}

/** As the service takes it. */
export interface TranscriptionWish {
  model: string | null
  language: string | null
  prompt: string | null
}

type Fields = Readonly<Record<string, unknown>>

const pcmRatesHz = [8000, 16_000, 24_000, 48_000]
const defaultTurn = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 }
/** The pause that ends a turn if the client leaves that to the meaning of the words, which is unknown here. */
const silenceByEagerness: Readonly<Record<string, number>> = { low: 1200, medium: 700, auto: 700, high: 400 }
const maxTextChars = 4096

export class SessionConfig {
  readonly #id: string
  readonly #expiresAtS: number
  #format: Fields = { type: 'audio/pcm', rate: 24_000 }
  #transcription: Fields | null = null
  #turnDetection: Fields | null = defaultTurn
  #noiseReduction: Fields | null = null
  #include: readonly unknown[] | null = null

  /** @param model of the address, which is that of the transcription until the client names another */
  constructor({ id, expiresAtS, model }: { id: string; expiresAtS: number; model: string | null }) {
    this.#id = id
    this.#expiresAtS = expiresAtS
    if (model !== null) this.#transcription = { model }
  }

  /** Only what is there changes; null clears. */
  update(session: unknown): void {
    if (!isFields(session)) return
    if (Array.isArray(session.include) || session.include === null) this.#include = session.include
    const input = isFields(session.audio) ? session.audio.input : null
    if (!isFields(input)) return
    if (isFields(input.format)) this.#format = formatOf(input.format) ?? this.#format
    if (isFields(input.noise_reduction) || input.noise_reduction === null) this.#noiseReduction = input.noise_reduction
    if (input.transcription === null) this.#transcription = null
    else if (isFields(input.transcription)) this.#transcription = { ...this.#transcription, ...input.transcription }
    if (input.turn_detection === null) this.#turnDetection = null
    else if (isFields(input.turn_detection)) this.#turnDetection = mergedTurn(this.#turnDetection, input.turn_detection)
  }

  get format(): InputFormat {
    if (this.#format.type === 'audio/pcmu') return { encoding: 'pcmu', rateHz: 8000 }
    if (this.#format.type === 'audio/pcma') return { encoding: 'pcma', rateHz: 8000 }
    return { encoding: 'pcm', rateHz: Number(this.#format.rate) }
  }

  /** null: the client says where turns end. */
  get turns(): TurnSettings | null {
    const given = this.#turnDetection
    if (given === null) return null
    const isSemantic = given.type === 'semantic_vad'
    const eagerness = silenceByEagerness[String(given.eagerness)] ?? silenceByEagerness.auto
    return {
      threshold: within(given.threshold, 0.05, 0.95, defaultTurn.threshold),
      prefixMs: within(given.prefix_padding_ms, 0, 5000, defaultTurn.prefix_padding_ms),
      silenceMs: isSemantic
        ? (eagerness ?? defaultTurn.silence_duration_ms)
        : within(given.silence_duration_ms, 100, 10_000, defaultTurn.silence_duration_ms),
    }
  }

  get wish(): TranscriptionWish {
    const { model, language, languages, prompt, keywords } = this.#transcription ?? {}
    const [first] = Array.isArray(languages) ? (languages as unknown[]) : []
    const words = Array.isArray(keywords) ? keywords.filter((word) => typeof word === 'string').join(', ') : ''
    const text = [textOf(prompt), textOf(words)].filter((part) => part !== null).join(' ')
    return { model: textOf(model), language: textOf(language) ?? textOf(first), prompt: textOf(text) }
  }

  /** ISO 639; null: it is to be found by listening. */
  get languageCode(): string | null {
    const { language } = this.wish
    return language === null ? null : languageCode(language)
  }

  toJSON() {
    return {
      type: 'transcription',
      object: 'realtime.transcription_session',
      id: this.#id,
      expires_at: this.#expiresAtS,
      include: this.#include,
      audio: {
        input: {
          format: this.#format,
          transcription: this.#transcription,
          noise_reduction: this.#noiseReduction,
          turn_detection: this.#turnDetection,
        },
      },
    }
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function formatOf({ type, rate }: Fields): Fields | null {
  if (type === 'audio/pcmu' || type === 'audio/pcma') return { type }
  if (type !== 'audio/pcm') return null
  return { type, rate: pcmRatesHz.find((known) => known === rate) ?? 24_000 }
}

/** A change of one field leaves the others, and above all the type, as they are. */
function mergedTurn(current: Fields | null, given: Fields): Fields {
  const isKnown = given.type === 'server_vad' || given.type === 'semantic_vad'
  const type = isKnown ? given.type : (current?.type ?? defaultTurn.type)
  const base = current?.type === type ? current : type === defaultTurn.type ? defaultTurn : {}
  return { ...base, ...given, type }
}

const within = (given: unknown, min: number, max: number, otherwise: number): number =>
  typeof given === 'number' && Number.isFinite(given) ? Math.min(max, Math.max(min, given)) : otherwise

const textOf = (given: unknown): string | null =>
  typeof given === 'string' && given.trim() !== '' ? given.toWellFormed().slice(0, maxTextChars) : null
