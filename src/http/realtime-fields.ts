/** The fields of a client secret, and the query of a realtime session. */
import type { Body } from './body.ts'
import { type Field, isAbsent, withDefault } from './fields/field.ts'
import { text, wholeNumber } from './fields/kinds.ts'

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
