/**
 * One clone, from the upload to the usable voice. The result is known only later, so the server is polled until it has
 * one. If a clip is unsuitable, the user learns what to record instead.
 */
import type { Clock } from '../../domain/time.ts'
import { type ApiClient, Refusal } from '../client/client.ts'
import { dollars, duration } from '../terminal/format.ts'
import { Failure } from '../terminal/terminal.ts'
import { keyRefused } from '../client/through-server.ts'

const firstPauseMs = 1000
const pauseFactor = 1.5
const pauseMsMax = 10_000
const waitingMs = 600_000

/** A voice as the API returns it, as far as commands use it. */
export interface VoiceRecord {
  voice_id: string
  name: string
  description: string | null
  labels: Record<string, string>
  status: 'processing' | 'ready' | 'failed'
  /** Absent: the server is older. */
  usable?: boolean
  error: { code: string; message: string } | null
  language: string | null
  is_owner: boolean
  is_public: boolean
  preview_url: string | null
  model: string
  fidelity: 'native' | 'full' | 'approximate'
  aliases?: string[]
  created_at: number
  samples: { file_name: string; size_bytes: number; duration_secs: number }[]
  operation_id?: string | null
}

export interface CloneOrder {
  client: ApiClient
  /** As `POST /v1/voices` takes it. */
  form: FormData
  idempotencyKey: string
  /** Calls back when the user wants to stop; returns a function that stops listening. */
  onInterrupt(callback: () => void): () => void
  /** What the command is doing and since when, for the person who waits. */
  progress(text: string, sinceMs: number): void
  wait(ms: number): Promise<void>
  clock: Clock
}

export interface Cloned {
  voice: VoiceRecord
  /** null: the server could not be asked. */
  chargedMicros: number | null
}

/** @throws Failure that says what was wrong, what to do about it and what was charged */
export async function clone(order: CloneOrder): Promise<Cloned> {
  const { client, clock, progress } = order
  const stop = new AbortController()
  const interrupted = Promise.withResolvers<void>()
  const under: { operationId: string | null } = { operationId: null }
  const ignore = order.onInterrupt(() => {
    const { operationId } = under
    if (operationId === null) return stop.abort(new Failure('Stopped before the clip was sent.', 'interrupted'))
    void client.cancel(operationId).then(() => interrupted.resolve(), interrupted.resolve)
  })
  try {
    progress('Sending the clip', clock.monotonicMs())
    const { voiceId, operationId } = await accepted(order, stop.signal)
    under.operationId = operationId
    const voice = await finished(order, voiceId, interrupted.promise)
    const operation = under.operationId === null ? null : await client.operation(under.operationId).catch(() => null)
    const chargedMicros = operation?.charged_micros ?? null
    if (voice.status === 'failed') throw failed(voice, chargedMicros)
    return { voice, chargedMicros }
  } catch (error) {
    throw error instanceof Refusal ? advised(error) : (stop.signal.reason ?? error)
  } finally {
    ignore()
  }
}

/** @throws Refusal, Failure, the signal's reason */
async function accepted(
  { client, form, idempotencyKey }: CloneOrder,
  signal: AbortSignal,
): Promise<{ voiceId: string; operationId: string | null }> {
  try {
    const answer = await client.clone(form, idempotencyKey, signal)
    const { voice_id: voiceId, operation_id } = (await answer.json()) as { voice_id: string; operation_id?: string }
    return { voiceId, operationId: operation_id ?? null }
  } catch (error) {
    // The key is ours alone: an earlier attempt was accepted, and its answer got lost.
    if (!(error instanceof Refusal) || error.code !== 'duplicate_request' || error.operationId === null) throw error
    const { voice_id: voiceId } = (await client.operation(error.operationId)) as { voice_id?: string }
    if (voiceId === undefined) throw error
    return { voiceId, operationId: error.operationId }
  }
}

/** The voice once it is no longer being made. */
async function finished(order: CloneOrder, voiceId: string, interrupted: Promise<void>): Promise<VoiceRecord> {
  const { client, wait, clock, progress } = order
  const startMs = clock.monotonicMs()
  let stopped = false
  void interrupted.then(() => (stopped = true))
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMsMax, pauseMs * pauseFactor)) {
    progress(stopped ? 'Stopping' : 'Creating the voice', startMs)
    // After Ctrl-C the server is asked at once, and then at the usual intervals.
    await (stopped ? wait(pauseMs) : Promise.race([wait(pauseMs), interrupted]))
    const voice = await readVoice(client, voiceId).catch(goneOrUnreachable)
    if (voice !== null && voice.status !== 'processing') return voice
    if (clock.monotonicMs() - startMs > waitingMs) {
      const look = `Check on it with: myna voices show ${voiceId}`
      throw new Failure(`After ${duration(waitingMs)} the voice is still being made. ${look}`, 'timeout')
    }
  }
}

/** A server that cannot be reached may be back before the deadline; a voice that is gone stays so. */
function goneOrUnreachable(error: unknown): null {
  if (!(error instanceof Refusal) || error.status >= 500 || error.status === 429) return null
  if (error.code !== 'voice_not_found') throw error
  throw new Failure('The voice was removed while it was being made. Nothing is charged.', 'cancelled')
}

/** @throws Refusal, Failure */
export async function readVoice(client: ApiClient, voiceId: string): Promise<VoiceRecord> {
  return (await (await client.ask(`/voices/${encodeURIComponent(voiceId)}`)).json()) as VoiceRecord
}

/** Of all pages, in the server's order. @throws Refusal, Failure */
export async function everyVoice(client: ApiClient): Promise<VoiceRecord[]> {
  const voices: VoiceRecord[] = []
  for (let after = ''; ;) {
    const answer = await client.ask(`/voices?limit=1000&compat=0${after}`)
    const page = (await answer.json()) as { data: VoiceRecord[]; has_more: boolean }
    voices.push(...page.data)
    const last = page.data.at(-1)
    if (!page.has_more || last === undefined) return voices
    after = `&after=${encodeURIComponent(last.voice_id)}`
  }
}

function failed({ error }: VoiceRecord, chargedMicros: number | null): Failure {
  const { code, message } = error ?? { code: 'failed', message: 'The voice could not be made.' }
  const charged = chargedMicros === null ? '' : `Charged: ${dollars(chargedMicros)}.`
  return new Failure([message, advice[code] ?? '', charged].filter((part) => part !== '').join(' '), code)
}

/** A refusal in the server's words, with what a person can do about it. */
export function advised(refusal: Refusal): Failure {
  if (refusal.status === 401) return keyRefused(refusal)
  const what = advice[refusal.code] ?? `[${refusal.code}]`
  return new Failure(`${refusal.message} ${what}`, refusal.code)
}

const goodClip =
  'one person who speaks 10 to 20 seconds at an even pace, close to the microphone, without music or echo'

const advice: Readonly<Record<string, string>> = {
  clip_too_short: `Record more: ${goodClip}.`,
  clip_too_long: `Cut out the best part: ${goodClip}.`,
  clip_silent: `Check that the right microphone is selected and its level is high enough, then record ${goodClip}.`,
  clip_undecodable: 'Save the recording as WAV, FLAC or MP3 and send that (M4A from a phone works too).',
  clip_refused: `Record it again: ${goodClip}.`,
  request_too_large: 'Save it as FLAC or MP3, or shorten it: 10 to 20 seconds of speech are enough.',
  request_timeout: 'The upload stalled. Send it again, or save it as MP3, which is smaller.',
  consent_required: 'State whose voice it is and that they agree: --consent "This is my own voice."',
  voice_limit_reached: 'Make room: myna voices list, then myna voices rm ID.',
  insufficient_balance:
    'Removing an unused clone (myna voices rm ID) frees one of the free clones; an administrator can add to the ' +
    'balance: myna accounts credit NAME AMOUNT.',
  insufficient_scope: 'Create a key for voices: myna keys create --account NAME --scopes tts,voices',
  voice_not_found: 'List the voices: myna voices list',
  voice_not_owned: 'List your voices: myna voices list',
  voice_not_ready: 'It is still being made: try again in a few seconds.',
  preview_not_available: 'The voice failed, so it has no preview. See why: myna voices show ID',
  engine_overloaded: 'The clip may be fine. Try again in a few minutes.',
  engine_failed: 'The clip may be fine. Try again.',
  engine_unavailable: 'The clip may be fine. Try again later; to find out what is wrong with the server: myna doctor',
  model_unavailable: 'The clip may be fine. To find out why the model cannot be loaded, run myna doctor on the server.',
  not_started: 'The server stopped before the work began. Try again.',
}
