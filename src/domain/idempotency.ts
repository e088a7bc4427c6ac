/**
 * Idempotency keys: which header values are valid, which speech requests count as equal, and what an existing record
 * under the key means for a new submission (the table of docs/api.md 6.4).
 */
import { MynaError } from './error.ts'
import type { Operation } from './operation.ts'

const maxKeyBytes = 128

/**
 * @param header the value as the runtime gives it: one Latin-1 character for each byte on the wire
 * @returns the key as text, or null when the header is absent
 * @throws MynaError `invalid_idempotency_key`
 */
export function parseIdempotencyKey(header: string | null): string | null {
  if (header === null) return null
  // The runtime joins repeated headers so. Which of two keys was meant cannot be known.
  if (header.includes(', ')) throw invalid('it was sent more than once, or holds a comma and a blank')
  const bytes = Buffer.from(header.replace(/^[ \t]+|[ \t]+$/g, ''), 'latin1')
  if (bytes.length < 1 || bytes.length > maxKeyBytes) {
    throw invalid(`it must have 1 to ${maxKeyBytes} bytes, not ${bytes.length}`)
  }
  let key: string
  try {
    key = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalid('it is not valid UTF-8')
  }
  if (/\p{Cc}/u.test(key)) throw invalid('it contains control characters')
  return key
}

const invalid = (why: string): MynaError =>
  new MynaError('invalid_idempotency_key', `Invalid 'Idempotency-Key': ${why}.`, { param: 'Idempotency-Key' })

export const hashIdempotencyKey = (key: string): string => sha256(key)

/** The known fields of a speech request as the client asked for them, after defaults and normalisation. */
export interface FingerprintFields {
  model: string | null
  input: string
  voice: string | null
  responseFormat: string
  speed: number
  instructions: string | null
  streamFormat: string
  language: string | null
  seed: number | null
  sampleRateHz: number
  wordTimes?: boolean
}

/** Two requests are the same submission when their fingerprints are equal. Field order is fixed, so it is canonical. */
export function fingerprint(fields: FingerprintFields): string {
  return sha256(
    JSON.stringify([
      fields.model,
      fields.input,
      fields.voice,
      fields.responseFormat,
      fields.speed,
      fields.instructions,
      fields.streamFormat,
      fields.language,
      fields.seed,
      fields.sampleRateHz,
      // Absent unless asked for, so that older requests keep their fingerprints.
      ...(fields.wordTimes === true ? ['word times'] : []),
    ]),
  )
}

/**
 * The record under a key is pending, completed or charged whenever it is still found under it: settlement takes the key
 * off all others. So a found record always refuses; only the words differ.
 * @param requested the fingerprint of the new submission; null for a clone, whose body is never compared
 */
export function refuseReuse(
  existing: Pick<Operation, 'id' | 'outcome'> & { fingerprint: string | null },
  requested: string | null,
): MynaError {
  const conflict = requested !== null && existing.fingerprint !== requested
  const about = {
    operation_id: existing.id,
    state: existing.outcome === null ? 'pending' : 'terminal',
    outcome: existing.outcome,
  }
  return conflict
    ? new MynaError('idempotency_conflict', 'This Idempotency-Key was used for a request with other fields.', {
        param: 'Idempotency-Key',
        extras: about,
      })
    : new MynaError('duplicate_request', 'This Idempotency-Key belongs to an earlier request; audio is not replayed.', {
        param: 'Idempotency-Key',
        extras: about,
      })
}

const sha256 = (text: string): string => new Bun.CryptoHasher('sha256').update(text).digest('hex')
