/** The realtime routes in the API document. OpenAPI has no words for what is said over a WebSocket: prose has. */
import { codesOf, objectOf, parametersOf, type Schema } from '../fields/field.ts'
import { realtimeQuery, secretFields } from '../realtime-fields.ts'
import { detail, rates, requestId, scoped } from './parts.ts'
import { refusals } from './refusals.ts'

const session = {
  type: 'transcription',
  object: 'realtime.transcription_session',
  id: 'sess_01KAKXN5J8ZC3M1R5T7V9X2B4D',
  expires_at: 1795330350,
  include: null,
  audio: {
    input: {
      format: { type: 'audio/pcm', rate: 24_000 },
      transcription: { model: 'gpt-realtime-whisper', language: 'en' },
      noise_reduction: null,
      turn_detection: { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 },
    },
  },
}

const secretAnswer: Schema = {
  type: 'object',
  required: ['value', 'expires_at', 'session'],
  properties: {
    value: { type: 'string', description: 'Begins with `ek_`. Send it as a bearer token or as a subprotocol.' },
    expires_at: { type: 'integer', description: 'Unix seconds.' },
    session: { type: 'object', description: 'What the settings mean here.' },
  },
}

const switched = {
  description: 'The connection is a WebSocket now. The first event is `session.created`.',
  headers: requestId,
}

export const realtimeDetail = detail('Audio', 'openRealtimeSession', 'Transcribe live (WebSocket)', {
  description:
    'OpenAI’s realtime API for sessions of the type `transcription`. The key comes as `Authorization: Bearer`, or as ' +
    'the subprotocol `openai-insecure-api-key.<key>` beside `realtime`; a client secret serves as well. The client ' +
    'sends `session.update`, `input_audio_buffer.append` (base64 of pcm16 at 24 kHz, or G.711), `.commit`, `.clear`, ' +
    '`conversation.item.retrieve` and `.delete`. The server tells where somebody begins and ends to speak ' +
    '(`turn_detection: null` leaves that to the commits of the client), sends `...input_audio_transcription.delta` ' +
    'about every second while somebody speaks, and `.completed` for each turn. A turn is counted like any ' +
    'transcription and costs nothing; the limit of transcriptions at once counts turns, not sockets. A session ends ' +
    'after an hour, after a quarter of an hour without an event, and with code 1008 when its key is revoked.',
  parameters: parametersOf(realtimeQuery),
  responses: {
    '101': switched,
    ...refusals(
      ...scoped,
      'upgrade_required',
      'validation_error',
      'concurrency_limit_exceeded',
      'transcription_unavailable',
      'server_shutting_down',
    ),
  },
})

export const clientSecretsDetail = detail('Audio', 'createClientSecret', 'Create a client secret', {
  description:
    'A short-lived secret that opens realtime sessions and nothing else, for programs that must not hold a key. It ' +
    'is not kept, and it ends with the key that made it.',
  requestBody: { content: { 'application/json': { schema: objectOf(secretFields), example: { session } } } },
  responses: {
    '200': {
      description: 'The secret and the settings',
      headers: { ...requestId, ...rates },
      content: {
        'application/json': {
          schema: secretAnswer,
          example: { value: 'ek_eyJrZXlJZCI6Imtle.q83vEjRWeJCrze8', expires_at: 1795330350, session },
        },
      },
    },
    ...refusals(
      ...scoped,
      ...codesOf(secretFields),
      'invalid_json',
      'decimal_below_min_value',
      'decimal_above_max_value',
      'string_above_max_length',
      'request_too_large',
      'request_timeout',
      'unsupported_media_type',
    ),
  },
})
