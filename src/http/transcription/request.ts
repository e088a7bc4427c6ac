/**
 * Turns an upload into a checked transcription request, field by field (docs/api.md 3.1). Unknown fields are ignored,
 * and so are hints that no model here can use. The order of the parts, the file's name and its declared type mean
 * nothing.
 */
import { MynaError } from '../../domain/error.ts'
import type { TranscriptionRequest } from '../../service/transcribe.ts'
import type { Body } from '../body.ts'
import { documented, parseFields, type Values, withDefault } from '../fields/field.ts'
import { choice, choices, flag, number, sizeInWords, text, valuesOf } from '../fields/kinds.ts'
import { openAiDialect } from '../fields/refusals.ts'
import type { FormLimits } from '../voices/form.ts'
import { type SpooledForm, spoolForm } from '../multipart.ts'

const transcriptFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
export type TranscriptFormat = (typeof transcriptFormats)[number]

const granularities = ['word', 'segment'] as const
export type Granularity = (typeof granularities)[number]

const maxNameChars = 256
const named = { max: maxNameChars, maxInSchema: false, trim: true, automatic: 'auto' } as const

export interface RecordingLimits {
  maxTranscriptionBytes: number
  maxTranscriptionSeconds: number
}

const recordingOf = ({ maxTranscriptionBytes, maxTranscriptionSeconds }: RecordingLimits) =>
  'The recording: flac, m4a, mp3, mp4, mpeg, mpga, oga, ogg, opus, wav, webm or aac, at most ' +
  `${sizeInWords(maxTranscriptionBytes)} (\`MYNA_MAX_TRANSCRIPTION_BYTES\`) and ${maxTranscriptionSeconds} seconds ` +
  '(`MYNA_MAX_TRANSCRIPTION_SECONDS`). The format is detected from the content; file name and declared type do not ' +
  'count.'

/** @param limits the configured ones, which the words state */
export const translationFields = (limits: RecordingLimits) => ({
  file: documented({ type: 'string', format: 'binary', description: recordingOf(limits) }, true),
  model: text({
    ...named,
    examples: ['whisper-1'],
    about: 'A model id or one of OpenAI’s names. If absent, the best one installed.',
  }),
  prompt: text({ examples: [''], about: 'A hint at words and style; may be ignored.' }),
  response_format: withDefault(choice(transcriptFormats), 'json'),
  temperature: withDefault(number(0, 1, { about: '0: the most probable words; warmer only where they fail.' }), 0),
})

const hints = (description: string) =>
  documented({ type: 'array', items: { type: 'string' }, examples: [[]], description })

/** @param limits the configured ones, which the words state */
export const transcriptionFields = (limits: RecordingLimits) => ({
  ...translationFields(limits),
  response_format: withDefault(
    choice(transcriptFormats, {
      refused: { diarized_json: 'No model here tells speakers apart.' },
      about: '`diarized_json` is refused: no model here tells speakers apart.',
    }),
    'json',
  ),
  language: text({
    ...named,
    examples: ['en'],
    about: 'ISO 639-1, a tag such as `en-US` or an English name. If absent or empty, it is detected.',
  }),
  'languages[]': hints('Languages to expect; may be ignored.'),
  'keywords[]': hints('Words to expect; may be ignored.'),
  'timestamp_granularities[]': choices(granularities, {
    examples: [['segment']],
    about:
      'With `verbose_json`; `segment` by default. If no model is named, `word` chooses one that reports the times of ' +
      'words; with a model that does not, they are estimated and `words_estimated` is true.',
  }),
  'include[]': documented({
    type: 'array',
    items: { type: 'string', enum: ['logprobs', 'segments'] },
    examples: [['segments']],
    description: '`segments`: a stream also reports each segment with its times. `logprobs` is ignored.',
  }),
  stream: flag({ about: 'With `json` and `text`: the text as server-sent events while it is made.' }),
  chunking_strategy: documented({ type: 'string', description: 'Ignored: the audio is cut where no one speaks.' }),
  'known_speaker_names[]': hints('Ignored: no model here tells speakers apart.'),
  'known_speaker_references[]': hints('Ignored.'),
})

export type TranscriptionFields = ReturnType<typeof transcriptionFields>

/** The form of the answer. */
export interface AnswerForm {
  format: TranscriptFormat
  /** With `verbose_json`. */
  granularities: ReadonlySet<Granularity>
  /** As events, while it is made. */
  isStream: boolean
  /** Whether events report each segment with its times: our own console uses this. */
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

/**
 * @param inOurWords renames the fields of another protocol
 * @throws MynaError; then no upload remains
 */
export async function readTranscription(
  request: Request,
  task: TranscriptionRequest['task'],
  limits: FormLimits,
  fields: TranscriptionFields,
  inOurWords: (sent: Body) => Body = (sent) => sent,
): Promise<Asked> {
  const form = await spoolForm(request, { ...limits, fileFields, unusedFields }).catch(inThisFamily)
  try {
    return parseTranscription({ ...form, fields: inOurWords(form.fields) }, task, fields)
  } catch (error) {
    form.remove()
    throw error
  }
}

function parseTranscription(
  { fields: sent, file, fileCount, remove }: SpooledForm,
  task: TranscriptionRequest['task'],
  fields: TranscriptionFields,
): Asked {
  const body = Object.fromEntries(Object.entries(sent).filter(([, value]) => !nothings.has(value)))
  // A browser sends an empty part without a name when nothing was chosen.
  if (file === null || (file.bytes === 0 && file.fileName === '')) {
    throw new MynaError('missing_required_parameter', "Missing required parameter: 'file'.", { param: 'file' })
  }
  if (fileCount > 1) {
    const message = `Invalid 'file': expected one file, but got ${fileCount} instead.`
    throw new MynaError('unsupported_value', message, { param: 'file' })
  }
  const given = parseFields(fields, body, openAiDialect)
  const answer = answerOf(given, body)
  const request: TranscriptionRequest = {
    task,
    model: given.model,
    language: task === 'translate' ? null : given.language,
    prompt: given.prompt,
    temperature: given.temperature,
    // Word times are used to cut long subtitles.
    words: answer.format === 'srt' || answer.format === 'vtt' || answer.granularities.has('word'),
    wordTimes: answer.granularities.has('word'),
    early: answer.isStream,
    upload: { path: file.path, remove },
  }
  return { request, answer }
}

function answerOf(given: Values<TranscriptionFields>, body: Body): AnswerForm {
  const format = given.response_format
  const named = given['timestamp_granularities[]']
  const streams = format === 'json' || format === 'text'
  return {
    format,
    granularities: new Set(format !== 'verbose_json' ? [] : named.length === 0 ? ['segment'] : named),
    isStream: given.stream && streams,
    segmentEvents: valuesOf(body.include).includes('segments'),
  }
}

/** Faults of a form are 422 on the routes of voices; those of OpenAI's family are 400. */
function inThisFamily(error: unknown): never {
  if (!(error instanceof MynaError) || error.code !== 'validation_error') throw error
  throw new MynaError('invalid_form', error.message, {
    ...(error.param !== null && { param: error.param }),
    cause: error,
  })
}
