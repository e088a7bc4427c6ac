/**
 * Retries: after a failure it tries again at once if bytes have arrived since, otherwise after growing pauses or the
 * one that the server requests, and gives up when nothing has arrived for several tries.
 */
import type { Timer } from '../../domain/time.ts'
import { Interruption, ModelError, NeverReached } from '../model-error.ts'

/** Tries in a row that bring nothing: 1 + 2 + 4 + 8 + 16 s of pauses, and what chance adds. */
const triesMax = 6
/** Where nothing has ever answered: one more, because looking up a name may fail once. */
const firstTriesMax = 2
const pauseMsMin = 1000
/** A longer pause is not waited out: the user can do something better. */
const askedMsMax = 300_000

export interface PatienceOptions {
  timer: Timer
  /** Fills bytes: pauses differ, so that many clients do not come back in step. */
  random: (bytes: Uint8Array) => Uint8Array
  signal: AbortSignal
  /** Grows with what has arrived so far. */
  progress(): number
  onPause(reason: string, pauseMs: number): void
}

/**
 * @param attempt throws Interruption where another try may go better
 * @throws ModelError `no_hub` in the last Interruption's words; the signal's reason; whatever else `attempt` throws
 */
export async function patiently<T>(attempt: () => Promise<T>, options: PatienceOptions): Promise<T> {
  const { timer, signal, progress, onPause } = options
  for (let tries = 1; ; tries++) {
    const before = progress()
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Interruption)) throw error
      if (progress() > before) tries = 1
      const pauseMs = error.pauseMs ?? grown(tries, options)
      const most = error instanceof NeverReached ? firstTriesMax : triesMax
      if (tries >= most || pauseMs > askedMsMax) throw givenUp(error, pauseMs)
      onPause(error.message, pauseMs)
      await pause(timer, pauseMs, signal)
    }
  }
}

/** Up to a quarter more than the step. */
function grown(tries: number, { random }: PatienceOptions): number {
  const [byte = 0] = random(new Uint8Array(1))
  return Math.round(pauseMsMin * 2 ** (tries - 1) * (1 + byte / 1024))
}

function givenUp(last: Interruption, pauseMs: number): ModelError {
  if (last instanceof NeverReached) {
    return new ModelError('no_hub', `${last.message}. Check the network and the address.`, { cause: last })
  }
  const asked = pauseMs > askedMsMax ? ` The server asks to wait ${Math.ceil(pauseMs / 60_000)} minutes.` : ''
  return new ModelError('no_hub', `${last.message}.${asked} The partial download is kept. Try again later to resume.`, {
    cause: last,
  })
}

/** @throws the signal's reason */
export async function pause(timer: Timer, pauseMs: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const over = Promise.withResolvers<void>()
  const cancel = timer.after(pauseMs, over.resolve)
  const abort = () => over.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  await over.promise.finally(() => {
    cancel()
    signal.removeEventListener('abort', abort)
  })
}
