/** Speech, transcription and translation in the API's document. */
import type { ErrorCode } from '../../domain/error.ts'
import { audioTypes } from '../content-types.ts'
import { codesOf, objectOf } from '../fields/field.ts'
import { captionFields, speechFields } from '../speech/request.ts'
import { captionedPiece } from '../speech/records.ts'
import { transcriptionFields } from '../transcription/request.ts'
import {
  binaryOf,
  contentOf,
  type Description,
  detail,
  formBody,
  jsonBody,
  type Media,
  rates,
  requestId,
} from './parts.ts'
import { engineCodes, headerRef } from './refusals.ts'
import { schemaRef } from './shapes.ts'

/** The codes do not depend on the limits. */
const anyLimits = { maxInputChars: 0, maxSpeechSeconds: 0, maxTranscriptionBytes: 0, maxTranscriptionSeconds: 0 }

const speechCodes: readonly ErrorCode[] = [
  'invalid_json',
  ...codesOf(speechFields(anyLimits)),
  'insufficient_balance',
  'voice_not_found',
  'idempotency_conflict',
  ...engineCodes,
]

export const speechDetail = detail('Audio', 'createSpeech', 'Create speech', {
  access: 'tts',
  about:
    'Streams the speech while it is made; the headers come with the first audio. Every accepted request makes an ' +
    'operation, whose id is the `X-Request-Id` of the answer.\n\n' +
    'Neither status 200 nor a playable file proves that everything was delivered: if the engine fails midway, the ' +
    'connection is cut and nothing is charged. The operation shows how it ended.\n\n',
  idempotent: true,
  body: jsonBody({
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
  }),
  answers: {
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
  },
  codes: [...speechCodes, 'voice_model_mismatch', 'operation_cancelled', 'voice_not_ready', 'voice_unusable'],
})

export const captionedSpeechDetail = detail('Audio', 'createCaptionedSpeech', 'Create speech with word times', {
  access: 'tts',
  about:
    'The route of Kokoro-FastAPI, for clients that are written for it; also as `/v1/audio/captioned_speech`. The ' +
    'fields are those of a speech request, and two more. `POST /v1/audio/speech` tells the same times in its events.',
  idempotent: true,
  body: jsonBody({
    schema: { allOf: [schemaRef('SpeechRequest'), objectOf(captionFields)] },
    example: { input: 'Hello there.', voice: 'nova', stream: false },
  }),
  answers: {
    200: {
      description: 'One object; with `stream`, one a line.',
      headers: requestId,
      content: { 'application/json': { schema: captionedPiece.schema, example: captionedPiece.example } },
    },
  },
  codes: speechCodes,
})

const plain = (content: Omit<Media, 'schema'>): Media => ({ schema: { type: 'string' }, ...content })

export const transcriptionCodes: readonly ErrorCode[] = [
  ...codesOf(transcriptionFields(anyLimits)),
  'invalid_form',
  'invalid_audio',
  'audio_too_short',
  'audio_too_long',
  'transcription_unavailable',
  ...engineCodes,
]

/** @param more after the words that hold for both */
const transcribing = (more: string): Omit<Description, 'body'> => ({
  access: 'tts',
  about:
    'Makes no operation and is not charged; the usage report counts its seconds. Without an installed transcription ' +
    'model the answer is 503 `transcription_unavailable`; no other route is affected. A client that disconnects ends ' +
    `the work.${more}`,
  answers: {
    200: {
      description: 'The text in the requested form.',
      headers: {
        ...requestId,
        ...rates,
        'x-skipped-seconds': {
          description:
            'Like `skipped_seconds`, for the forms that have no place for it; absent if nothing was skipped.',
          schema: { type: 'number' },
        },
      },
      content: {
        'application/json': {
          schema: { anyOf: [schemaRef('VerboseTranscription'), schemaRef('Transcription')] },
          examples: {
            json: { value: contentOf('Transcription').example },
            verbose_json: { value: contentOf('VerboseTranscription').example },
          },
        },
        'text/plain': plain({
          examples: {
            text: { value: 'Good morning.\n' },
            srt: { value: '1\n00:00:00,000 --> 00:00:01,420\nGood morning.\n' },
          },
        }),
        'text/vtt': plain({ example: 'WEBVTT\n\n00:00.000 --> 00:01.420\nGood morning.\n' }),
        'text/event-stream': contentOf('TranscriptEvents'),
      },
    },
  },
  codes: transcriptionCodes,
})

export const transcriptionDetail = detail('Audio', 'createTranscription', 'Transcribe audio', {
  ...transcribing(''),
  body: formBody('TranscriptionRequest'),
})

export const translationDetail = detail('Audio', 'createTranslation', 'Translate audio into English text', {
  ...transcribing(' Unless a model is named, the preferred one that translates is used.'),
  body: formBody('TranslationRequest'),
})
