/**
 * One speech request, from the order to the complete file. The stream alone does not say that all went well: the
 * operation does, and it also has the charge, so it is read at the end of every stream, broken or not.
 */
import type { Clock } from '../../domain/time.ts'
import { type ApiClient, type OperationRecord, Refusal } from './client.ts'
import { bytes, dollars } from '../terminal/format.ts'
import type { Sink } from './sink.ts'
import { Failure } from '../terminal/terminal.ts'
import { keyRefused } from './through-server.ts'

/** A stream that brings nothing for this long is given up. */
const silenceMs = 120_000
/** Time from a cancel to the end of the stream. */
const cancelMs = 5000
const firstPauseMs = 1000
const pauseMsMax = 10_000
const pollingMs = 60_000

export interface Delivery {
  client: ApiClient
  /** The body of `POST /v1/audio/speech`. */
  body: object
  idempotencyKey: string
  sink: Sink
  /** The audio in an answer whose body is something else; absent: the body is the audio. */
  audioIn?: (body: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>
  /** Calls back when the user wants it to stop; returns how to stop listening. */
  onInterrupt(callback: () => void): () => void
  /** Shown while it waits. */
  notice(text: string): void
  wait(ms: number): Promise<void>
  clock: Clock
}

/**
 * @returns the completed operation; null when the server names none (a proxy in between may take the header away)
 * @throws Failure that says what was charged and where the audio is, Refusal
 */
export async function deliver(delivery: Delivery): Promise<OperationRecord | null> {
  const { client, sink } = delivery
  const stop = new AbortController()
  const under: { operationId: string | null } = { operationId: null }
  const ignore = delivery.onInterrupt(() => interrupt(client, under.operationId, stop))
  try {
    const answer = await client.speech(delivery.body, delivery.idempotencyKey, stop.signal)
    under.operationId = operationOf(answer)
    const warning = answer.headers.get('x-myna-warning')
    if (warning !== null) delivery.notice(warning)
    await pour(answer, delivery, stop)
  } catch (thrown) {
    ignore()
    const error = stop.signal.reason instanceof Failure ? stop.signal.reason : thrown
    const place = await sink.leave()
    if (error instanceof Refusal) throw await explain(error, client)
    if (under.operationId === null) throw error
    throw await brokenOff(error, await settled(delivery, under.operationId), place, delivery)
  }
  ignore()
  const operation = under.operationId === null ? null : await settled(delivery, under.operationId)
  if (under.operationId !== null && operation?.outcome !== 'completed') {
    throw await brokenOff(null, operation, await sink.leave(), delivery)
  }
  await sink.keep()
  return operation
}

function operationOf(answer: Response): string | null {
  const id = answer.headers.get('x-request-id')
  return id?.startsWith('op_') === true ? id : null
}

async function pour(
  { body }: Response,
  { sink, audioIn = (audio) => audio }: Delivery,
  stop: AbortController,
): Promise<void> {
  const silent = () => stop.abort(new Failure(`the server sent nothing for ${silenceMs / 1000} s`))
  let deadline = setTimeout(silent, silenceMs)
  try {
    for await (const chunk of body === null ? [] : audioIn(body)) {
      clearTimeout(deadline)
      await sink.write(chunk)
      deadline = setTimeout(silent, silenceMs)
    }
    stop.signal.throwIfAborted()
  } finally {
    clearTimeout(deadline)
    // Anything else that ended the reading (such as a full disk): the server need not continue.
    if (!stop.signal.aborted) stop.abort()
  }
}

/** Cancels on the server, which then ends the stream; if it does not, or nothing has arrived yet, we end it. */
function interrupt(client: ApiClient, operationId: string | null, stop: AbortController): void {
  const reason = new Failure('stopped', 'interrupted')
  if (operationId === null) return stop.abort(new Failure('Stopped before any audio arrived.', 'interrupted'))
  setTimeout(() => stop.abort(reason), cancelMs).unref()
  client.cancel(operationId).catch(() => stop.abort(reason))
}

/** The operation once it is terminal; as it is when that takes too long; null when it cannot be read at all. */
async function settled(delivery: Delivery, operationId: string): Promise<OperationRecord | null> {
  const { client, wait, clock, notice } = delivery
  const startMs = clock.monotonicMs()
  let operation: OperationRecord | null = null
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMsMax, pauseMs * 1.5)) {
    // A server that cannot be reached now may be back before the deadline.
    operation = await client.operation(operationId).catch(() => operation)
    if (operation?.state === 'terminal') return operation
    if (clock.monotonicMs() - startMs + pauseMs > pollingMs) return operation
    if (pauseMs === firstPauseMs) notice('The stream is over; asking the server how it ended.')
    await wait(pauseMs)
  }
}

async function brokenOff(
  error: unknown,
  operation: OperationRecord | null,
  place: string,
  { client, sink }: Delivery,
): Promise<Failure> {
  const cancelled = operation?.outcome === 'cancelled'
  // Our own reason first: to the server we merely left.
  const why = error instanceof Failure ? error.message : (operation?.error?.message ?? 'the connection broke')
  const what = cancelled ? 'Stopped.' : `The audio stopped after ${bytes(sink.bytes)}: ${why.replace(/\.$/, '')}.`
  const words = [what, await charge(operation, client), place].filter((part) => part !== '').join(' ')
  return new Failure(words, operation?.outcome ?? 'stream_failed')
}

/** For an account that pays nothing only which operation it was. */
async function charge(operation: OperationRecord | null, client: ApiClient): Promise<string> {
  if (operation === null) return 'The charge could not be read.'
  if (!(await client.isPrepaid())) return `The operation: ${operation.id}.`
  if (operation.state === 'pending')
    return `Not settled yet; reserved: ${dollars(operation.charged_micros)} (${operation.id}).`
  return `Charged: ${dollars(operation.charged_micros)} (${operation.id}).`
}

/** A refusal in the server's words, with what a person can do about it. */
async function explain(refusal: Refusal, client: ApiClient): Promise<Failure> {
  if (refusal.status === 401) return keyRefused(refusal)
  const operation = refusal.operationId === null ? null : await client.operation(refusal.operationId).catch(() => null)
  const costs = operation === null ? '' : ` ${await charge(operation, client)}`
  return new Failure(`${refusal.message} [${refusal.code}]${costs}`, refusal.code)
}
