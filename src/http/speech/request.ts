/** The fields of a speech request, and the way from a JSON body to a checked one (docs/api.md 2.1). */
import {
  type AudioFormat,
  audioFormats,
  defaultSampleRateHz,
  sampleRatesHz,
  type SpeechRequest,
} from '../../domain/speech.ts'
import type { Body } from '../body.ts'
import { documented, type Field, isAbsent, parseFields, required, withDefault } from '../fields/field.ts'
import { choice, flag, languageTag, number, oneNumberOf, text, wholeNumber } from '../fields/kinds.ts'
import { openAiDialect } from '../fields/refusals.ts'

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

const withWords = flag({
  about:
    'With `stream_format: "sse"`: also events `speech.audio.timestamps` with the words that begin in the audio ' +
    'before them. `["word"]` means `true`. An extension of OpenAI’s API.',
})

/** A flag, or a list of what is timed. */
const wordTimes: Field<boolean> = {
  ...withWords,
  codes: ['invalid_type', 'unsupported_value'],
  parse: (given, refuse) => {
    if (!Array.isArray(given)) return withWords.parse(given, refuse)
    const unknown = given.find((kind) => kind !== 'word')
    if (unknown !== undefined) throw refuse.unsupported(unknown, ['word'])
    return given.length > 0
  },
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
      about: 'In any case. `ogg` means `opus`. `pcm` is s16le, mono, without a header.',
    }),
    'mp3',
  ),
  speed: withDefault(number(0.25, 4, { orNull: true }), 1),
  stream_format: withDefault(
    choice(['audio', 'sse'], {
      about: '`audio`: the bytes themselves. `sse`: the same bytes in server-sent events.',
    }),
    'audio',
  ),
  timestamps: wordTimes,
  instructions: text({
    max: maxInstructionChars,
    orNull: true,
    about: 'How to speak. Models that cannot use it ignore it.',
  }),
  language: languageTag({ orNull: true, about: 'A hint: a BCP-47 tag such as `en` or `en-US`.' }),
  seed: wholeNumber(0, maxSeed, {
    orNull: true,
    about:
      'The same seed repeats the same sound, on one machine and one version. Models that draw nothing at random ' +
      'ignore it. Other processors round differently, so their sound differs slightly.',
  }),
  sample_rate: withDefault(
    oneNumberOf(sampleRatesHz, { about: 'In hertz. All formats but `pcm` and `wav` support 24000 only.' }),
    defaultSampleRateHz,
  ),
})

const yesUnlessNo = (about: string): Field<boolean> => {
  const no = flag({ about })
  return {
    ...no,
    schema: { ...no.schema, default: true },
    parse: (given, refuse) => isAbsent(given) || no.parse(given, refuse),
  }
}

/** Of speech with captions, besides those of any speech request. */
export const captionFields = {
  stream: yesUnlessNo('One JSON object a line, as the speech is made; `false`: one object with all of it.'),
  return_timestamps: yesUnlessNo('Whether the times of words are wanted.'),
}

/** @throws MynaError with the field as its param */
export function parseSpeechRequest(body: Body, fields: ReturnType<typeof speechFields>): SpeechRequest {
  const given = parseFields(fields, body, openAiDialect)
  requireRate(given.sample_rate, given.response_format)
  requireEvents(given.timestamps, given.stream_format)
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
    ...(given.timestamps && { wordTimes: true }),
  }
}

function requireRate(rateHz: number, format: AudioFormat): void {
  if (rateHz === defaultSampleRateHz || format === 'pcm' || format === 'wav') return
  const why = `The format ${format} has a fixed rate.`
  throw openAiDialect('sample_rate').unsupported(rateHz, [defaultSampleRateHz], why)
}

function requireEvents(timestamps: boolean, streamFormat: string): void {
  if (!timestamps || streamFormat === 'sse') return
  const why = 'Bytes of audio cannot carry times: ask for "stream_format": "sse", or use /dev/captioned_speech.'
  throw openAiDialect('timestamps').unsupported(timestamps, [false], why)
}
