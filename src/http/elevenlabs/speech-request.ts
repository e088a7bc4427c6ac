/** The fields of ElevenLabs' speech request, and the way from them to ours. */
import type { SpeechRequest } from '../../domain/speech.ts'
import type { Body } from '../body.ts'
import { type Field, parseFields, parseQuery, required } from '../fields/field.ts'
import { languageTag, number, text, wholeNumber } from '../fields/kinds.ts'
import { bodyDialect } from '../fields/refusals.ts'
import { ownModel } from './model-names.ts'
import { outputFormat } from './output-format.ts'

const maxSeed = 2 ** 32 - 1
const maxNameChars = 256

const speed = number(0.25, 4)

/** Our models have no other setting than the speed. */
const speedOfSettings: Field<number | null> = {
  schema: {
    type: 'object',
    properties: { speed: { ...speed.schema, default: 1 } },
    description: 'Only `speed` is used. `stability`, `similarity_boost`, `style` and `use_speaker_boost` are ignored.',
  },
  codes: speed.codes,
  parse: (given, refuse) => {
    if (given === undefined || given === null) return null
    if (typeof given !== 'object' || Array.isArray(given)) throw refuse.wrongType('an object', given)
    return speed.parse('speed' in given ? given.speed : null, bodyDialect('voice_settings.speed'))
  },
}

/** @param maxInputChars as configured, which the words state */
export const textToSpeechFields = ({ maxInputChars }: { maxInputChars: number }) => ({
  text: required(
    text({
      min: 1,
      max: maxInputChars,
      maxInSchema: false,
      about: `The text to speak; not blank. At most ${maxInputChars} Unicode code points (\`MYNA_MAX_INPUT_CHARS\`).`,
    }),
  ),
  model_id: text({
    max: maxNameChars,
    maxInSchema: false,
    trim: true,
    automatic: 'auto',
    about: 'A model id of this server. ElevenLabs’ own (`eleven_...`) mean the best one installed that has the voice.',
    examples: ['eleven_multilingual_v2'],
  }),
  voice_settings: speedOfSettings,
  language_code: languageTag({ about: 'ISO 639-1, such as `en`; or a BCP-47 tag.' }),
  seed: wholeNumber(0, maxSeed, { about: 'The same seed repeats the same sound.' }),
})

export const textToSpeechQuery = { output_format: outputFormat }

export type TextToSpeechFields = ReturnType<typeof textToSpeechFields>

/** @param voice as the path names it @throws MynaError `validation_error` */
export function parseTextToSpeech(
  body: Body,
  query: URLSearchParams,
  voice: string,
  fields: TextToSpeechFields,
): SpeechRequest {
  const given = parseFields(fields, body, bodyDialect)
  return {
    ...parseQuery(textToSpeechQuery, query).output_format,
    model: ownModel(given.model_id),
    voice,
    input: given.text,
    speed: given.voice_settings ?? 1,
    streamFormat: 'audio',
    instructions: null,
    language: given.language_code,
    seed: given.seed,
  }
}
