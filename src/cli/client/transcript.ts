/**
 * One transcription, from the upload to the complete transcript. Plain text is read as events, which report progress;
 * every other format arrives at once.
 */
import type { Clock } from '../../domain/time.ts'
import { type ApiClient, Refusal } from './client.ts'
import { duration } from '../terminal/format.ts'
import type { ProgressLine } from '../terminal/progress.ts'
import { Failure } from '../terminal/terminal.ts'
import { keyRefused } from './through-server.ts'
import { formStream, type Upload } from './upload.ts'

export interface TranscriptOrder {
  client: ApiClient
  translate: boolean
  /** Without `stream`, which is set here. */
  upload: Upload
  format: string
  onInterrupt(callback: () => void): () => void
  progress: ProgressLine['show']
  /** Called with each piece of plain text as soon as it arrives. */
  onText(delta: string): void
  /** Called at the end if a part of the recording could not be decoded. */
  onSkipped(seconds: number): void
  clock: Clock
}

/** A stream that brings nothing for this long, not even comments, is given up. */
const silenceMs = 120_000

/** @returns the transcript in that format, ending with a line break @throws Failure in words for a person */
export async function transcript(order: TranscriptOrder): Promise<string> {
  const stop = new AbortController()
  const ignore = order.onInterrupt(() => stop.abort(new Failure('Stopped; nothing is charged.', 'interrupted')))
  try {
    const answer = await asked(order, stop.signal)
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
    const skipped = Number(answer.headers.get('x-skipped-seconds') ?? 0)
    if (skipped > 0) order.onSkipped(skipped)
    const whole = isStream ? await streamed(answer, order, stop) : await answer.text()
    return whole.endsWith('\n') ? whole : `${whole}\n`
  } catch (error) {
    if (stop.signal.reason instanceof Failure) throw stop.signal.reason
    if (error instanceof Refusal) throw advised(error)
    if (error instanceof Failure) throw error
    throw new Failure(
      `The connection broke before the transcript was complete: ${(error as Error).message}`,
      'connection_broken',
    )
  } finally {
    ignore()
  }
}

function asked(
  { client, translate, upload, format, progress, clock }: TranscriptOrder,
  signal: AbortSignal,
): Promise<Response> {
  const fields = [...upload.fields, ['response_format', format], ['stream', String(format === 'text')]] as const
  const startMs = clock.monotonicMs()
  return client.transcription(
    translate ? '/audio/translations' : '/audio/transcriptions',
    () => {
      progress(`Sending ${upload.fileName}`, startMs, 0)
      return formStream({ ...upload, fields }, (share) => {
        if (share < 1) progress(`Sending ${upload.fileName}`, startMs, share)
        else progress('Listening', clock.monotonicMs())
      })
    },
    signal,
  )
}

async function streamed(answer: Response, order: TranscriptOrder, stop: AbortController): Promise<string> {
  const startMs = order.clock.monotonicMs()
  const silent = () =>
    stop.abort(new Failure(`The server sent nothing for ${silenceMs / 1000} s.`, 'connection_broken'))
  let deadline = setTimeout(silent, silenceMs)
  const decoder = new TextDecoder()
  let unread = ''
  try {
    for await (const chunk of answer.body ?? []) {
      clearTimeout(deadline)
      deadline = setTimeout(silent, silenceMs)
      const blocks = (unread + decoder.decode(chunk, { stream: true })).split('\n\n')
      unread = blocks.pop() ?? ''
      for (const block of blocks) {
        const text = readBlock(block, order, startMs)
        if (text !== null) return text
      }
    }
  } finally {
    clearTimeout(deadline)
  }
  throw new Failure('The connection broke before the transcript was complete.', 'connection_broken')
}

interface Event {
  type: string
  delta?: string
  text?: string
  skipped_seconds?: number
  error?: { code: string; message: string }
}

/** @returns the whole text, with the last event @throws Failure for what went wrong on the server */
function readBlock(block: string, order: TranscriptOrder, startMs: number): string | null {
  const comment = /^: heard ([\d.]+)(?: of ([\d.]+))?$/.exec(block)
  if (comment !== null) {
    const [heard, all] = [Number(comment[1]), comment[2] === undefined ? null : Number(comment[2])]
    const far = all === null ? duration(1000 * heard) : `${duration(1000 * heard)} of ${duration(1000 * all)}`
    order.progress(`Processed ${far}`, startMs, all === null ? null : heard / all)
  }
  const data = /^data: (\{.*)$/m.exec(block)?.[1]
  if (data === undefined) return null
  const event = JSON.parse(data) as Event
  if (event.error !== undefined) throw new Failure(event.error.message, event.error.code)
  if (event.type === 'transcript.text.delta') order.onText(event.delta ?? '')
  if (event.skipped_seconds !== undefined) order.onSkipped(event.skipped_seconds)
  return event.type === 'transcript.text.done' ? (event.text ?? '') : null
}

/** A refusal in the server's words, with what a person can do about it. */
function advised(refusal: Refusal): Failure {
  if (refusal.status === 401) return keyRefused(refusal)
  const what = advice[refusal.code] ?? `[${refusal.code}]`
  return new Failure(`${refusal.message} ${what}`.trimEnd(), refusal.code)
}

const advice: Readonly<Record<string, string>> = {
  audio_too_long: "Split it, or raise the server's limit: MYNA_MAX_TRANSCRIPTION_SECONDS.",
  audio_too_short: '',
  engine_overloaded: 'Try again later.',
  insufficient_scope: 'Create a key for it: myna keys create --account NAME --scopes tts',
  invalid_audio: '',
  model_not_found: '',
  request_too_large: "Save it as MP3 or Opus, or raise the server's limit: MYNA_MAX_TRANSCRIPTION_BYTES.",
  transcription_unavailable: '',
  unsupported_value: '',
}
