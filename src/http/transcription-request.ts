/**
 * From an upload to a checked transcription request, field by field (docs/api.md 3.1). Unknown fields are ignored, and
 * so are hints that no model here can use. The order of the parts, the file's name and its declared type mean nothing.
 */
import { MynaError } from '../domain/error.ts'
import type { TranscriptionRequest } from '../service/transcribe.ts'
import type { Body } from './body.ts'
import { flagOf, nameOf, numberOf, oneOf, unsupported, wrongType } from './body-fields.ts'
import type { FormLimits } from './voice-form.ts'
import { type SpooledForm, spoolForm } from './multipart.ts'

export const transcriptFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
export type TranscriptFormat = (typeof transcriptFormats)[number]

const granularities = ['segment', 'word'] as const
export type Granularity = (typeof granularities)[number]

/** How the answer is to look. */
export interface AnswerForm {
  format: TranscriptFormat
  /** With `verbose_json`. */
  granularities: ReadonlySet<Granularity>
  /** As events, while it comes. */
  isStream: boolean
  /** Whether the events tell of each segment and its times, too: what our own console asks for. */
  segmentEvents: boolean
}

export interface Asked {
  request: TranscriptionRequest
  answer: AnswerForm
}

const fileFields: ReadonlySet<string> = new Set(['file'])
/** What a script's missing value becomes in a form. */
const nothings: ReadonlySet<unknown> = new Set(['null', 'undefined', 'None'])
/** Whole recordings of speakers may come in these. */
const unusedFields: ReadonlySet<string> = new Set(['known_speaker_references', 'known_speaker_names'])

/** @throws MynaError; there is no upload then */
export async function readTranscription(
  request: Request,
  task: TranscriptionRequest['task'],
  limits: FormLimits,
): Promise<Asked> {
  const form = await spoolForm(request, { ...limits, fileFields, unusedFields }).catch(inThisFamily)
  try {
    return parseTranscription(form, task)
  } catch (error) {
    form.remove()
    throw error
  }
}

function parseTranscription(
  { fields: given, file, fileCount, remove }: SpooledForm,
  task: TranscriptionRequest['task'],
): Asked {
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => !nothings.has(value)))
  // A browser sends an empty part without a name when nothing was chosen.
  if (file === null || (file.bytes === 0 && file.fileName === '')) {
    throw new MynaError('missing_required_parameter', "Missing required parameter: 'file'.", { param: 'file' })
  }
  if (fileCount > 1) {
    const message = `Invalid 'file': expected one file, but got ${fileCount} instead.`
    throw new MynaError('unsupported_value', message, { param: 'file' })
  }
  const answer = answerOf(fields)
  const request: TranscriptionRequest = {
    task,
    model: autoOr(nameOf('model', fields.model)),
    language: task === 'translate' ? null : autoOr(nameOf('language', fields.language)),
    prompt: promptOf(fields),
    temperature: numberOf(fields, 'temperature', 0, 1) ?? 0,
    // Long segments of subtitles are cut by them.
    words: answer.format === 'srt' || answer.format === 'vtt' || answer.granularities.has('word'),
    wordTimes: answer.granularities.has('word'),
    upload: { path: file.path, remove },
  }
  return { request, answer }
}

function answerOf(fields: Body): AnswerForm {
  const format = formatOf(fields)
  const isVerbose = format === 'verbose_json'
  const streams = format === 'json' || format === 'text'
  return {
    format,
    granularities: isVerbose ? granularitiesOf(fields.timestamp_granularities) : new Set(),
    isStream: flagOf(fields, 'stream') && streams,
    segmentEvents: valuesOf(fields.include).includes('segments'),
  }
}

function formatOf(fields: Body): TranscriptFormat {
  const given = fields.response_format
  if (typeof given !== 'string' || given.toLowerCase() !== 'diarized_json') {
    return oneOf(fields, 'response_format', transcriptFormats) ?? 'json'
  }
  const list = transcriptFormats.map((format) => `'${format}'`).join(', ')
  const message = `Invalid value: 'diarized_json'. No model here tells speakers apart. Supported values are: ${list}.`
  throw new MynaError('unsupported_value', message, { param: 'response_format' })
}

/** Of a field that may come once, several times or not at all. */
const valuesOf = (given: unknown): unknown[] =>
  typeof given === 'object' && given !== null ? Object.values(given) : [given ?? '']

function granularitiesOf(given: unknown): ReadonlySet<Granularity> {
  // Some send a whole list as one field, as JSON or between commas.
  const list = valuesOf(given).flatMap((value) => (typeof value === 'string' ? value.split(/[\s,"'[\]]+/) : [value]))
  const named = list
    .filter((value) => value !== '')
    .map((value) => {
      const found = granularities.find((one) => one === value)
      if (found === undefined) throw unsupported('timestamp_granularities', value, granularities)
      return found
    })
  return new Set(named.length === 0 ? ['segment'] : named)
}

function promptOf({ prompt }: Body): string | null {
  if (prompt === undefined || prompt === null) return null
  if (typeof prompt !== 'string') throw wrongType('prompt', 'a string', prompt)
  return prompt.trim() === '' ? null : prompt.toWellFormed()
}

const autoOr = (name: string | null): string | null => (name?.toLowerCase() === 'auto' ? null : name)

/** Faults of a form are 422 on the routes of voices; those of OpenAI's family are 400. */
function inThisFamily(error: unknown): never {
  if (!(error instanceof MynaError) || error.code !== 'validation_error') throw error
  throw new MynaError('invalid_form', error.message, {
    ...(error.param !== null && { param: error.param }),
    cause: error,
  })
}
