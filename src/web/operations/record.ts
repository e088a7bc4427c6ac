/** An operation as lists have it; administrators get more of it, and of every account. */

export interface OperationRecord {
  id: string
  type: 'speech' | 'clone'
  state: 'pending' | 'terminal'
  outcome: string | null
  model: string
  voice_id: string | null
  input_chars: number
  price_micros: number
  charged_micros: number
  /** Unix seconds. */
  created_at: number
  expires_at: number | null
  key_id: string
  error: { code: string; message: string } | null
  /** For administrators: names, and milliseconds since its creation. */
  account?: string
  key?: string
  wait_ms?: number | null
  first_audio_ms?: number | null
  duration_ms?: number | null
}

/** Where operations are asked for. */
export const operationsPath = (isAdmin: boolean): string => (isAdmin ? '/v1/admin/operations' : '/v1/operations')

export const outcomeWords = (outcome: string | null): string => (outcome ?? 'running').replaceAll('_', ' ')
