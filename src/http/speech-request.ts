/** From a JSON body to a checked speech request, field by field (docs/api.md 2.1). Unknown fields are ignored. */
import { MynaError } from '../domain/error.ts'
import {
  type AudioFormat,
  audioFormats,
  defaultSampleRateHz,
  sampleRatesHz,
  type SpeechRequest,
} from '../domain/speech.ts'
import type { Body } from './body.ts'
import { nameOf, numberOf, oneOf, requireLength, unsupported, wholeOf, wrongType } from './body-fields.ts'

const maxInstructionChars = 4096

/** @throws MynaError with the field as its param */
export function parseSpeechRequest(body: Body, maxInputChars: number): SpeechRequest {
  const input = inputOf(body, maxInputChars)
  const format = formatOf(body)
  return {
    model: modelOf(body),
    voice: voiceOf(body),
    input,
    format,
    speed: numberOf(body, 'speed', 0.25, 4) ?? 1,
    streamFormat: oneOf(body, 'stream_format', ['audio', 'sse'] as const) ?? 'audio',
    instructions: instructionsOf(body),
    language: languageOf(body),
    seed: wholeOf(body, 'seed', 0, 2 ** 32 - 1),
    sampleRateHz: sampleRateOf(body, format),
  }
}

function inputOf(body: Body, maxInputChars: number): string {
  const given = body.input
  if (given === undefined || given === null) {
    throw new MynaError('missing_required_parameter', "Missing required parameter: 'input'.", { param: 'input' })
  }
  if (typeof given !== 'string') throw wrongType('input', 'a string', given)
  const input = given.toWellFormed()
  if (input.trim() === '') {
    throw new MynaError('empty_string', "Invalid 'input': empty string. Expected text to speak.", { param: 'input' })
  }
  requireLength('input', input, maxInputChars)
  return input
}

function modelOf(body: Body): string | null {
  const model = nameOf('model', body.model)
  return model === 'auto' ? null : model
}

function voiceOf(body: Body): string | null {
  const given = body.voice ?? body.voice_id
  if (typeof given === 'object' && given !== null && 'id' in given) return nameOf('voice', given.id)
  return nameOf('voice', given)
}

function formatOf(body: Body): AudioFormat {
  const given = body.response_format
  const lowered = typeof given === 'string' ? given.toLowerCase() : given
  const named = lowered === 'ogg' ? 'opus' : lowered
  return oneOf({ response_format: named }, 'response_format', audioFormats) ?? 'mp3'
}

function sampleRateOf(body: Body, format: AudioFormat): number {
  const rateHz = wholeOf(body, 'sample_rate', 1, 1_000_000)
  if (rateHz === null || rateHz === defaultSampleRateHz) return defaultSampleRateHz
  const supported: readonly number[] = format === 'pcm' || format === 'wav' ? sampleRatesHz : [defaultSampleRateHz]
  if (supported.includes(rateHz)) return rateHz
  throw unsupported('sample_rate', rateHz, supported, format === 'pcm' || format === 'wav' ? '' : ` with ${format}`)
}

function instructionsOf(body: Body): string | null {
  const given = body.instructions
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string') throw wrongType('instructions', 'a string', given)
  requireLength('instructions', given, maxInstructionChars)
  return given.toWellFormed()
}

function languageOf(body: Body): string | null {
  const given = body.language
  if (given === undefined || given === null || given === '') return null
  if (typeof given !== 'string') throw wrongType('language', 'a string', given)
  try {
    const [canonical] = Intl.getCanonicalLocales(given.trim().replaceAll('_', '-'))
    if (canonical !== undefined) return canonical
  } catch {
    // Not a language tag: refused below.
  }
  const message = `Invalid value: '${given.slice(0, 40)}'. Expected a language tag such as 'en' or 'en-US'.`
  throw new MynaError('unsupported_value', message, { param: 'language' })
}
