/** Transcription and translation in the API's document: forms, answers, events and refusals (docs/api.md 3). */
import type { OpenAPIV3_1 } from 'openapi-types'
import { refusals, type Schema, schemaRef } from './refusals.ts'
import { examples } from './examples.ts'
import { bearer, detail, type Operation, rates, requestId, scoped } from './parts.ts'
import { transcriptFormats } from '../transcription-request.ts'

/** In the forms: file parts are told by content and not by name or declared type. */
const file: Schema = {
  type: 'string',
  format: 'binary',
  description:
    'The recording: flac, m4a, mp3, mp4, mpeg, mpga, oga, ogg, opus, wav, webm or aac, at most 25 MiB. Its format is ' +
    'told from its bytes; file name and declared type do not count.',
}

const translationFields: Record<string, Schema> = {
  file,
  model: {
    type: 'string',
    examples: ['whisper-1'],
    description: 'A model id or one of OpenAI’s names; absent: the best one installed.',
  },
  prompt: { type: 'string', examples: [''], description: 'A hint at words and style; may be ignored.' },
  response_format: { type: 'string', enum: [...transcriptFormats], default: 'json' },
  temperature: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0,
    description: '0: as certain as the model can be, and warmer only where it fails.',
  },
}

const hints: OpenAPIV3_1.ArraySchemaObject = { type: 'array', items: { type: 'string' }, examples: [[]] }

const transcriptionRequest: Schema = {
  type: 'object',
  required: ['file'],
  properties: {
    ...translationFields,
    response_format: {
      type: 'string',
      enum: [...transcriptFormats, 'diarized_json'],
      default: 'json',
      description: '`diarized_json` is refused: no model here tells speakers apart.',
    },
    language: {
      type: 'string',
      examples: ['en'],
      description: 'ISO 639-1, a tag such as `en-US` or an English name; absent or empty: found by listening.',
    },
    'languages[]': { ...hints, description: 'Languages to expect; may be ignored.' },
    'keywords[]': { ...hints, description: 'Words to expect; may be ignored.' },
    'timestamp_granularities[]': {
      type: 'array',
      items: { type: 'string', enum: ['word', 'segment'] },
      examples: [['segment']],
      description:
        'With `verbose_json`; segments unless said otherwise. For words a model that tells their times is chosen ' +
        'where none is named; those of one that does not are an empty list.',
    },
    'include[]': {
      type: 'array',
      items: { type: 'string', enum: ['logprobs', 'segments'] },
      examples: [['segments']],
      description:
        '`segments`: a stream tells of each segment and its times, too. `logprobs` is read over by models that cannot.',
    },
    stream: {
      type: 'boolean',
      default: false,
      description: 'With `json` and `text`: the text as server-sent events while it comes.',
    },
    chunking_strategy: { description: 'Read over: the audio is cut where nobody speaks.' },
    'known_speaker_names[]': { ...hints, description: 'Read over: no model here tells speakers apart.' },
    'known_speaker_references[]': { ...hints, description: 'Read over.' },
  },
}

const usageSeconds: Schema = {
  type: 'object',
  required: ['type', 'seconds'],
  properties: { type: { type: 'string', const: 'duration' }, seconds: { type: 'integer', description: 'Rounded up.' } },
}

const skipped: Schema = {
  type: 'number',
  description:
    'So much of the recording is damaged or missing and was passed over as silence, so that all times stay right; ' +
    'absent where it is whole. Where more is damaged than sound, the answer is 400 `invalid_audio`.',
}

const skippedHeader = {
  'x-skipped-seconds': {
    description: 'As `skipped_seconds`, for the forms that have no place for it; absent where the recording is whole.',
    schema: { type: 'number' as const },
  },
}

const languages: Schema = {
  type: 'array',
  description: 'What is spoken, where something was said that tells.',
  items: { type: 'object', required: ['code'], properties: { code: { type: 'string' } } },
}

const transcription: Schema = {
  type: 'object',
  required: ['text', 'usage'],
  properties: {
    text: { type: 'string', description: 'Empty for silence.' },
    languages,
    usage: usageSeconds,
    skipped_seconds: skipped,
  },
}

const seconds: Schema = { type: 'number', description: 'Seconds from the beginning.' }

const segment: Schema = {
  type: 'object',
  required: [
    'id',
    'seek',
    'start',
    'end',
    'text',
    'tokens',
    'temperature',
    'avg_logprob',
    'compression_ratio',
    'no_speech_prob',
  ],
  properties: {
    id: { type: 'integer' },
    seek: { type: 'integer', description: 'Where the window began in which it was heard, in hundredths of a second.' },
    start: seconds,
    end: seconds,
    text: { type: 'string' },
    tokens: { type: 'array', items: { type: 'integer' } },
    temperature: { type: 'number' },
    avg_logprob: { type: 'number' },
    compression_ratio: { type: 'number' },
    no_speech_prob: { type: 'number' },
  },
}

const verboseTranscription: Schema = {
  type: 'object',
  required: ['task', 'language', 'duration', 'text', 'usage'],
  properties: {
    task: { type: 'string', enum: ['transcribe', 'translate'] },
    language: {
      type: 'string',
      description: 'The English name in lower case; `unknown` where nothing was said that would tell.',
      examples: ['english'],
    },
    duration: { type: 'number', description: 'Seconds.' },
    text: { type: 'string' },
    segments: { type: 'array', items: segment },
    words: {
      type: 'array',
      items: {
        type: 'object',
        required: ['word', 'start', 'end'],
        properties: { word: { type: 'string' }, start: seconds, end: seconds },
      },
    },
    usage: usageSeconds,
    skipped_seconds: skipped,
  },
}

const transcriptEvents: Schema = {
  type: 'string',
  description:
    'A `TranscriptDeltaEvent` for each stretch of text, with `include[]=segments` a `TranscriptSegmentEvent` ' +
    'behind it, at last one `TranscriptDoneEvent` and `data: [DONE]`; lines ' +
    '`event:` name them. Comments such as `: heard 61.5 of 300.2` tell how many seconds have been listened to, ' +
    '`: keepalive` comes every 15 seconds of silence. After an event of the type `error` the connection breaks.',
}

const transcriptDelta: Schema = {
  type: 'object',
  required: ['type', 'delta'],
  properties: {
    type: { type: 'string', const: 'transcript.text.delta' },
    delta: { type: 'string', description: 'What came to the text: all deltas together are the whole.' },
  },
}

const transcriptSegment: Schema = {
  ...segment,
  required: ['type', ...(segment.required ?? [])],
  properties: { type: { type: 'string', const: 'transcript.text.segment' }, ...segment.properties },
}

const noTokens: Schema = { type: 'integer', const: 0 }
const transcriptDone: Schema = {
  type: 'object',
  required: ['type', 'text', 'usage'],
  properties: {
    type: { type: 'string', const: 'transcript.text.done' },
    text: { type: 'string' },
    languages,
    skipped_seconds: skipped,
    usage: {
      type: 'object',
      required: ['type', 'input_tokens', 'output_tokens', 'total_tokens', 'seconds'],
      properties: {
        type: { type: 'string', const: 'tokens' },
        input_tokens: { ...noTokens, description: 'There are no tokens here.' },
        output_tokens: noTokens,
        total_tokens: noTokens,
        seconds: { type: 'integer', description: 'Of audio, rounded up.' },
      },
    },
  },
}

export const transcriptionSchemas: Record<string, Schema> = {
  TranscriptionRequest: transcriptionRequest,
  TranslationRequest: { type: 'object', required: ['file'], properties: translationFields },
  Transcription: transcription,
  VerboseTranscription: verboseTranscription,
  TranscriptEvents: transcriptEvents,
  TranscriptDeltaEvent: transcriptDelta,
  TranscriptSegmentEvent: transcriptSegment,
  TranscriptDoneEvent: transcriptDone,
}

const transcribed: NonNullable<Operation['responses']> = {
  200: {
    description: 'The text, in the form that was asked for.',
    headers: { ...requestId, ...rates, ...skippedHeader },
    content: {
      'application/json': {
        schema: { oneOf: [schemaRef('Transcription'), schemaRef('VerboseTranscription')] },
        examples: { json: { value: examples.Transcription }, verbose_json: { value: examples.VerboseTranscription } },
      },
      'text/plain': {
        schema: { type: 'string' },
        examples: {
          text: { value: 'Good morning.\n' },
          srt: { value: '1\n00:00:00,000 --> 00:00:01,420\nGood morning.\n' },
        },
      },
      'text/vtt': { schema: { type: 'string' }, example: 'WEBVTT\n\n00:00.000 --> 00:01.420\nGood morning.\n' },
      'text/event-stream': { schema: schemaRef('TranscriptEvents'), example: examples.TranscriptEvents },
    },
  },
  ...refusals(
    'missing_required_parameter',
    'invalid_form',
    'invalid_type',
    'invalid_audio',
    'audio_too_short',
    'audio_too_long',
    'string_above_max_length',
    'decimal_below_min_value',
    'decimal_above_max_value',
    'unsupported_value',
    ...scoped,
    'model_not_found',
    'request_timeout',
    'request_too_large',
    'unsupported_media_type',
    'concurrency_limit_exceeded',
    'generation_failed',
    'transcription_unavailable',
    'engine_overloaded',
    'engine_unavailable',
    'model_unavailable',
    'server_shutting_down',
    'storage_full',
    'database_damaged',
  ),
}

const common =
  'Asks for the scope `tts`, makes no operation and is not charged; what was listened to is in the usage. Without ' +
  'an installed transcription model it answers 503 `transcription_unavailable`; no other route is affected. A ' +
  'client that leaves ends the work.'

export const transcriptionDetail = detail({
  tags: ['Audio'],
  operationId: 'createTranscription',
  summary: 'Write down a recording',
  description: common,
  security: bearer,
  requestBody: {
    required: true,
    content: { 'multipart/form-data': { schema: schemaRef('TranscriptionRequest') } },
  },
  responses: transcribed,
})

export const translationDetail = detail({
  tags: ['Audio'],
  operationId: 'createTranslation',
  summary: 'Write down a recording in English',
  description: `${common} The preferred model of those that translate is taken, unless one is named.`,
  security: bearer,
  requestBody: { required: true, content: { 'multipart/form-data': { schema: schemaRef('TranslationRequest') } } },
  responses: transcribed,
})
