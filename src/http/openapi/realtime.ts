/** The realtime routes in the API document. OpenAPI has no words for what is said over a WebSocket: prose has. */
import { codesOf, objectOf } from '../fields/field.ts'
import { realtimeQuery, secretAnswer, secretFields, sessionExample } from '../realtime-fields.ts'
import { detail, jsonBody, rates, requestId } from './parts.ts'

export const realtimeDetail = detail('Audio', 'openRealtimeSession', 'Transcribe live (WebSocket)', {
  access: 'tts',
  about:
    'OpenAI’s realtime API for sessions of the type `transcription`. The key comes as `Authorization: Bearer`, or as ' +
    'the subprotocol `openai-insecure-api-key.<key>` beside `realtime`; a client secret serves as well. The client ' +
    'sends `session.update`, `input_audio_buffer.append` (base64 of pcm16 at 24 kHz, or G.711), `.commit`, `.clear`, ' +
    '`conversation.item.retrieve` and `.delete`. The server reports where speech begins and ends ' +
    '(`turn_detection: null` leaves that to the commits of the client), sends `...input_audio_transcription.delta` ' +
    'about every second of speech, and `.completed` for each turn. A turn is counted like any transcription and ' +
    'costs nothing; the limit of transcriptions at once counts turns, not sockets. A session ends after an hour, ' +
    'after a quarter of an hour without an event, and with code 1008 when its key is revoked.',
  query: realtimeQuery,
  answers: {
    101: {
      description: 'The connection is a WebSocket now. The first event is `session.created`.',
      headers: requestId,
    },
  },
  codes: ['upgrade_required', 'concurrency_limit_exceeded', 'transcription_unavailable', 'server_shutting_down'],
})

export const clientSecretsDetail = detail('Audio', 'createClientSecret', 'Create a client secret', {
  access: 'tts',
  about:
    'A short-lived secret that opens realtime sessions and nothing else, for programs that must not hold a key. It ' +
    'is not kept, and it ends with the key that made it.',
  body: jsonBody({ schema: objectOf(secretFields), example: { session: sessionExample } }),
  answers: {
    200: {
      description: 'The secret and the settings',
      headers: { ...requestId, ...rates },
      content: { 'application/json': { schema: secretAnswer.schema, example: secretAnswer.example } },
    },
  },
  codes: [
    ...codesOf(secretFields),
    'invalid_json',
    'decimal_below_min_value',
    'decimal_above_max_value',
    'string_above_max_length',
    'request_too_large',
    'request_timeout',
    'unsupported_media_type',
  ],
})
