/** Speech, transcription and translation in the API's document. */
import type { ErrorCode } from '../../domain/error.ts'
import { audioTypes } from '../content-types.ts'
import { codesOf } from '../fields/field.ts'
import { speechFields } from '../speech/request.ts'
import { transcriptionFields } from '../transcription/request.ts'
import {
  answerRecords,
  binaryOf,
  contentOf,
  detail,
  idempotencyKey,
  type Operation,
  rates,
  requestId,
  scoped,
} from './parts.ts'
import { headerRef, refusals } from './refusals.ts'
import { schemaRef } from './shapes.ts'

/** What any work of an engine can be refused with or fail with. */
export const engineCodes: readonly ErrorCode[] = [
  'model_not_found',
  'request_timeout',
  'request_too_large',
  'unsupported_media_type',
  'concurrency_limit_exceeded',
  'generation_failed',
  'engine_overloaded',
  'engine_unavailable',
  'model_unavailable',
  'server_shutting_down',
  'storage_full',
  'database_damaged',
  'database_unavailable',
]

/** The codes do not depend on the limits. */
const anyLimits = { maxInputChars: 0, maxSpeechSeconds: 0, maxTranscriptionBytes: 0, maxTranscriptionSeconds: 0 }

export const speechDetail = detail('Audio', 'createSpeech', 'Create speech', {
  description:
    'Streams the speech while it is made; the headers come with the first audio. Requires the scope `tts`. Every ' +
    'accepted request makes an operation, whose id is the `X-Request-Id` of the answer.\n\n' +
    'Neither status 200 nor a playable file proves that everything was delivered: if the engine fails midway, the ' +
    'connection is cut and nothing is charged. The operation shows how it ended.',
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: schemaRef('SpeechRequest'),
        examples: {
          short: {
            summary: 'A sentence as MP3',
            value: { model: 'tts-1', voice: 'alloy', input: 'The myna repeats what it has heard.' },
          },
          raw: {
            summary: 'Raw PCM, 16 kHz, a little faster',
            value: { input: 'Your table is ready.', response_format: 'pcm', sample_rate: 16000, speed: 1.1 },
          },
          events: {
            summary: 'Server-sent events',
            value: { model: 'auto', voice: 'nova', input: 'One piece after another.', stream_format: 'sse' },
          },
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The audio, chunk by chunk, in the requested format; or events with `stream_format: sse`.',
      headers: {
        'X-Request-Id': headerRef('OperationId'),
        'Content-Disposition': headerRef('Disposition'),
        'X-Myna-Warning': headerRef('Warning'),
        'X-Audio-Sample-Rate': headerRef('SampleRate'),
        'X-Audio-Channels': headerRef('Channels'),
        ...rates,
      },
      content: { ...binaryOf(Object.values(audioTypes)), 'text/event-stream': contentOf('SpeechEvents') },
    },
    ...refusals(
      'invalid_json',
      ...codesOf(speechFields(anyLimits)),
      'invalid_idempotency_key',
      'voice_model_mismatch',
      'operation_cancelled',
      ...scoped,
      'insufficient_balance',
      'voice_not_found',
      'duplicate_request',
      'idempotency_conflict',
      'voice_not_ready',
      'voice_unusable',
      ...engineCodes,
    ),
  },
})

const transcribed: NonNullable<Operation['responses']> = {
  200: {
    description: 'The text in the requested form.',
    headers: {
      ...requestId,
      ...rates,
      'x-skipped-seconds': {
        description: 'Like `skipped_seconds`, for the forms that have no place for it; absent if nothing was skipped.',
        schema: { type: 'number' as const },
      },
    },
    content: {
      'application/json': {
        schema: { oneOf: [schemaRef('Transcription'), schemaRef('VerboseTranscription')] },
        examples: {
          json: { value: answerRecords.Transcription.example },
          verbose_json: { value: answerRecords.VerboseTranscription.example },
        },
      },
      'text/plain': {
        schema: { type: 'string' },
        examples: {
          text: { value: 'Good morning.\n' },
          srt: { value: '1\n00:00:00,000 --> 00:00:01,420\nGood morning.\n' },
        },
      },
      'text/vtt': { schema: { type: 'string' }, example: 'WEBVTT\n\n00:00.000 --> 00:01.420\nGood morning.\n' },
      'text/event-stream': contentOf('TranscriptEvents'),
    },
  },
  ...refusals(
    ...codesOf(transcriptionFields(anyLimits)),
    'invalid_form',
    'invalid_audio',
    'audio_too_short',
    'audio_too_long',
    ...scoped,
    'transcription_unavailable',
    ...engineCodes,
  ),
}

const common =
  'Requires the scope `tts`, makes no operation and is not charged; the usage report counts its seconds. Without an ' +
  'installed transcription model the answer is 503 `transcription_unavailable`; no other route is affected. A client ' +
  'that disconnects ends the work.'

export const transcriptionDetail = detail('Audio', 'createTranscription', 'Transcribe audio', {
  description: common,
  requestBody: { required: true, content: { 'multipart/form-data': { schema: schemaRef('TranscriptionRequest') } } },
  responses: transcribed,
})

export const translationDetail = detail('Audio', 'createTranslation', 'Translate audio into English text', {
  description: `${common} Unless a model is named, the preferred one that translates is used.`,
  requestBody: { required: true, content: { 'multipart/form-data': { schema: schemaRef('TranslationRequest') } } },
  responses: transcribed,
})
