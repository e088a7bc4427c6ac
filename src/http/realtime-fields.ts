/** A client secret, asked for and answered, and the query of a realtime session. */
import type { Body } from './body.ts'
import { type Field, isAbsent, withDefault } from './fields/field.ts'
import { text, wholeNumber } from './fields/kinds.ts'
import * as is from './openapi/shapes.ts'
import { from } from './openapi/shapes.ts'

const maxModelChars = 256

export const realtimeQuery = {
  intent: text({ about: '`transcription`. There are no other sessions here, so it may be absent.' }),
  model: text({ max: maxModelChars, about: 'Model of the transcription, until `session.update` names another.' }),
}

const settings = (about: string): Field<Body> => ({
  schema: { type: 'object', description: about },
  codes: ['invalid_type'],
  parse: (given, refuse) => {
    if (isAbsent(given)) return {}
    if (typeof given !== 'object' || Array.isArray(given)) throw refuse.wrongType('an object', given)
    return given as Body
  },
})

export const secretFields = {
  expires_after: settings(
    'How long it opens sessions: `{"anchor": "created_at", "seconds": 600}`; 10 to 7200 seconds, by default 600.',
  ),
  session: settings('Settings of the sessions that it opens, as in `session.update`; at most 2048 characters of JSON.'),
}

/** Of `expires_after`. */
export const lifeFields = { seconds: withDefault(wholeNumber(10, 7200), 600) }

export const sessionExample = {
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

const session: is.Shape<object> = {
  schema: { type: 'object', description: 'What the settings mean here.' },
  example: sessionExample,
}

export const secretAnswer = is.answer<{ value: string; expiresAtS: number; session: object }>('', {
  value: from(
    is.text(
      'ek_eyJrZXlJZCI6Imtle.q83vEjRWeJCrze8',
      'Begins with `ek_`. Send it as a bearer token or as a subprotocol.',
    ),
    'value',
  ),
  expires_at: from(is.whole(1795330350, 'Unix seconds.'), 'expiresAtS'),
  session: from(session, 'session'),
})
