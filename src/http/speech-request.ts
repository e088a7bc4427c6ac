/** The fields of a speech request, and the way from a JSON body to a checked one (docs/api.md 2.1). */
import {
  type AudioFormat,
  audioFormats,
  defaultSampleRateHz,
  sampleRatesHz,
  type SpeechRequest,
} from '../domain/speech.ts'
import type { Body } from './body.ts'
import { documented, type Field, parseFields, required, withDefault } from './fields/field.ts'
import { choice, languageTag, number, oneNumberOf, text, wholeNumber } from './fields/kinds.ts'
import { openAiDialect } from './fields/refusals.ts'

const maxNameChars = 256
const maxInstructionChars = 4096
const maxSeed = 2 ** 32 - 1

const name = text({ max: maxNameChars, maxInSchema: false, trim: true, orNull: true })
const mixable =
  'Two to eight preset voices of one model that can mix them (Kokoro) are joined with `+` into one voice, with ' +
  'weights in brackets if they are not equal: `af_heart+af_sky`, `af_heart(2)+am_adam(0.5)`. The operation names ' +
  'the mixture by the ids of its voices.'

/** A name, or OpenAI's object with an `id`. */
const voice: Field<string | null> = {
  ...name,
  schema: {
    description:
      'A voice by its id, an alias (such as OpenAI’s `alloy` or `nova`) or its name. If absent, the server’s default ' +
      `voice. ${mixable}`,
    anyOf: [{ type: ['string', 'null'] }, { type: 'object', required: ['id'], properties: { id: { type: 'string' } } }],
  },
  synonyms: { voice_id: null },
  parse: (given, refuse) =>
    name.parse(typeof given === 'object' && given !== null && 'id' in given ? given.id : given, refuse),
}

export interface SpeechLimits {
  maxInputChars: number
  maxSpeechSeconds: number
}

const textOf = ({ maxInputChars, maxSpeechSeconds }: SpeechLimits) =>
  `The text to speak; not blank. At most ${maxInputChars} Unicode code points (\`MYNA_MAX_INPUT_CHARS\`), also ` +
  `reported by \`GET /v1/me\`. A text that would take more than ${maxSpeechSeconds} seconds to speak, as thousands ` +
  'of digits do, is refused too (`MYNA_MAX_SPEECH_SECONDS`).'

/** @param limits the configured ones, which the words state */
export const speechFields = (limits: SpeechLimits) => ({
  input: required(text({ min: 1, max: limits.maxInputChars, maxInSchema: false, about: textOf(limits) })),
  model: text({
    max: maxNameChars,
    maxInSchema: false,
    trim: true,
    automatic: 'auto',
    defaultsTo: 'auto',
    orNull: true,
    about:
      'A model id, or `auto` for the best one installed. OpenAI’s names (`tts-1`, `tts-1-hd`, `gpt-4o-mini-tts`) ' +
      'mean `auto` too. With these the voice chooses the model.',
  }),
  voice,
  voice_id: documented({ type: ['string', 'null'], description: 'Another name for `voice`, which takes precedence.' }),
  response_format: withDefault(
    choice(audioFormats, {
      means: { ogg: 'opus' },
      orNull: true,
      about: 'In any case. `ogg` means `opus`. `pcm` is s16le, mono, without a header.',
    }),
    'mp3',
  ),
  speed: withDefault(number(0.25, 4, { orNull: true }), 1),
  stream_format: withDefault(
    choice(['audio', 'sse'], {
      orNull: true,
      about: '`audio`: the bytes themselves. `sse`: the same bytes in server-sent events.',
    }),
    'audio',
  ),
  instructions: text({
    max: maxInstructionChars,
    orNull: true,
    about: 'How to speak. Models that cannot use it ignore it.',
  }),
  language: languageTag({ orNull: true, about: 'A hint: a BCP-47 tag such as `en` or `en-US`.' }),
  seed: wholeNumber(0, maxSeed, { orNull: true }),
  sample_rate: withDefault(
    oneNumberOf(sampleRatesHz, { orNull: true, about: 'In hertz. Only `pcm` and `wav` support others than 24000.' }),
    defaultSampleRateHz,
  ),
})

/** @throws MynaError with the field as its param */
export function parseSpeechRequest(body: Body, fields: ReturnType<typeof speechFields>): SpeechRequest {
  const given = parseFields(fields, body, openAiDialect)
  requireRate(given.sample_rate, given.response_format)
  return {
    model: given.model,
    voice: given.voice,
    input: given.input,
    format: given.response_format,
    speed: given.speed,
    streamFormat: given.stream_format,
    instructions: given.instructions,
    language: given.language,
    seed: given.seed,
    sampleRateHz: given.sample_rate,
  }
}

function requireRate(rateHz: number, format: AudioFormat): void {
  if (rateHz === defaultSampleRateHz || format === 'pcm' || format === 'wav') return
  const why = `The format ${format} has a fixed rate.`
  throw openAiDialect('sample_rate').unsupported(rateHz, [defaultSampleRateHz], why)
}
