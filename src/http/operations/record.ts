/** An operation as the API shows it (docs/api.md 6): alone, in a list, and to administrators. */
import { expiresAtMs, type Operation, outcomes } from '../../domain/operation.ts'
import { exampleOperationId } from '../error-codes.ts'
import * as is from '../openapi/shapes.ts'
import { from, maybe } from '../openapi/shapes.ts'

/** Why something did not complete. */
export const fault: is.Shape<{ code: string; message: string } | null> = {
  schema: {
    description: 'Why it did not complete.',
    anyOf: [is.record('', { code: is.text(), message: is.text() }).schema, { type: 'null' }],
  },
  example: null,
}

const fields: Readonly<Record<string, is.Sent<Operation>>> = {
  id: from(is.matching('^op_[0-9A-HJKMNP-TV-Z]{26}$', exampleOperationId), 'id'),
  object: is.constant('operation'),
  type: from(is.oneOf(['speech', 'clone'], 'speech'), 'type'),
  state: from(is.oneOf(['pending', 'terminal'], 'terminal'), ({ outcome }) =>
    outcome === null ? 'pending' : 'terminal',
  ),
  outcome: from(is.oneOrNull(outcomes, 'completed', '`null` while pending.'), 'outcome'),
  charged_micros: from(
    is.micros(675, 'Millionths of a US dollar. While pending, the reserved price.'),
    'chargedMicros',
  ),
  completion_bytes: maybe(
    is.whole(153600, 'Only for completed speech: PCM bytes delivered, in any format, without a header.'),
    ({ type, outcome, completionBytes }) =>
      type === 'speech' && outcome === 'completed' ? (completionBytes ?? undefined) : undefined,
  ),
  created_at: is.unixS(1763712000, 'createdAtMs'),
  settled_at: is.unixOrNull(1763712003, 'settledAtMs'),
  expires_at: is.unixOrNull(1763715603, expiresAtMs, 'When the record may be removed; `null` while pending.'),
  voice_id: from(is.textOrNull('wren'), 'voiceId'),
  error: from(fault, 'error'),
}

export const operationRecord = is.answer(
  'The record of one accepted speech request or clone. It is removed one hour after settlement, or 24 hours after ' +
    'creation if an idempotency key was sent.',
  fields,
)

/** With what lists are read for: the model, the key, and the amount of work. */
const listedFields: typeof fields = {
  ...fields,
  model: from(is.text('hibari'), 'model'),
  input_chars: from(is.count(45), 'inputChars'),
  price_micros: from(is.micros(675), 'priceMicros'),
  key_id: from(is.text('key_01KAJ5ZV0A1B2C3D4E5F6G7H8J'), 'keyId'),
}

export const listedOperation = is.answer('An operation in a list.', listedFields)

/** With the names behind the ids. */
export interface NamedOperation extends Operation {
  account: string
  key: string
}

export const adminOperation = is.answer<NamedOperation>('An operation of any account.', {
  ...listedFields,
  account_id: from(is.text('acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J'), 'accountId'),
  account: from(is.text('ada', 'Name of the account.'), 'account'),
  key: from(is.text('laptop', 'Name of the key.'), 'key'),
  wait_ms: from(
    is.countOrNull(12, 'From its creation until work began; `null`: not yet, or never.'),
    after('startedAtMs'),
  ),
  first_audio_ms: from(is.countOrNull(140, 'From its creation to the first audio.'), after('firstAudioAtMs')),
  duration_ms: from(is.countOrNull(2900, 'From its creation to its end; `null` while pending.'), after('settledAtMs')),
})

/** The wall clock may have jumped back. */
function after(step: 'startedAtMs' | 'firstAudioAtMs' | 'settledAtMs') {
  return ({ createdAtMs, [step]: atMs }: Operation): number | null =>
    atMs === null ? null : Math.max(0, atMs - createdAtMs)
}

export const cancelled = is.answer<boolean>('', {
  ok: from(is.flag(true, 'Whether running work was signalled.'), (wasRunning) => wasRunning),
})
