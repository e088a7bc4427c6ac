/** Speech with times in the API's document. */
import { codesOf, objectOf, type Schema } from '../fields/field.ts'
import { captionFields, speechFields } from '../speech/request.ts'
import { engineCodes } from './audio.ts'
import { detail, idempotencyKey, requestId, scoped } from './parts.ts'
import { refusals } from './refusals.ts'

const anyLimits = { maxInputChars: 0, maxSpeechSeconds: 0 }

const answer: Schema = {
  type: 'object',
  required: ['audio', 'audio_format', 'timestamps'],
  properties: {
    audio: { type: 'string', description: 'Base64 of bytes of the `response_format`.' },
    audio_format: { type: 'string', description: 'Its media type.' },
    timestamps: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['word', 'start_time', 'end_time'],
        properties: {
          word: { type: 'string', description: 'As it stands in the input.' },
          start_time: { type: 'number', description: 'Seconds from the beginning of all the audio.' },
          end_time: { type: 'number' },
        },
      },
    },
    timestamps_estimated: {
      type: 'boolean',
      description: 'The model does not time its words: they were shared out over the sound by their length.',
    },
  },
}

const example = {
  audio: 'SUQzBAA=',
  audio_format: 'audio/mpeg',
  timestamps: [{ word: 'Hello', start_time: 0.275, end_time: 0.6 }],
  timestamps_estimated: false,
}

export const captionedSpeechDetail = detail('Audio', 'createCaptionedSpeech', 'Create speech with word times', {
  description:
    'The route of Kokoro-FastAPI, for clients that are written for it; also as `/v1/audio/captioned_speech`. The ' +
    'fields are those of a speech request, and two more. `POST /v1/audio/speech` tells the same times in its events.',
  parameters: [idempotencyKey],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/SpeechRequest' }, objectOf(captionFields)] },
        example: { input: 'Hello there.', voice: 'nova', stream: false },
      },
    },
  },
  responses: {
    200: {
      description: 'One object; with `stream`, one a line.',
      headers: requestId,
      content: { 'application/json': { schema: answer, example } },
    },
    ...refusals(
      ...scoped,
      ...engineCodes,
      ...codesOf(speechFields(anyLimits)),
      'invalid_json',
      'invalid_idempotency_key',
      'duplicate_request',
      'idempotency_conflict',
      'insufficient_balance',
      'voice_not_found',
    ),
  },
})
