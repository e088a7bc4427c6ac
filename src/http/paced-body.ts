/**
 * A request body, piece by piece, at a pace that every honest uplink keeps. A client that sends less only holds a
 * connection, and what is kept for it. The client is not our failure: it gets a 408, or has left.
 */
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'

const minuteMs = 60_000
/** 17 kbit/s: a recording of 25 MiB may take three hours and twenty minutes. */
const leastBytes = 131_072

export class PacedBody {
  readonly #reader: Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'> | null
  readonly #timer: Timer
  #cancelTimer: () => void = () => {}
  /** Of this minute. */
  #bytes = 0
  #late: MynaError | null = null

  constructor({ body }: Request, timer: Timer) {
    this.#reader = body?.getReader() ?? null
    this.#timer = timer
    this.#watch()
  }

  /** @returns null: that was all @throws MynaError `request_timeout` */
  async read(): Promise<Uint8Array | null> {
    const step = await this.#reader?.read().catch((error: unknown) => {
      this.close()
      throw stopped(error)
    })
    if (this.#late !== null) throw this.#late
    if (step?.value === undefined) {
      this.close()
      return null
    }
    this.#bytes += step.value.length
    return step.value
  }

  /** Nothing more is wanted of it. Harmless when called again. */
  close(): void {
    this.#cancelTimer()
    this.#reader?.cancel().catch(() => {})
  }

  #watch(): void {
    this.#cancelTimer = this.#timer.after(minuteMs, () => {
      if (this.#bytes >= leastBytes) {
        this.#bytes = 0
        return this.#watch()
      }
      this.#late = this.#bytes === 0 ? stopped() : slow()
      // A read that waits ends with it.
      this.close()
    })
  }
}

/** The whole of a small body. @throws MynaError `request_timeout` after a minute */
export const wholeInTime = (request: Request, timer: Timer): Promise<Uint8Array> =>
  unlessLate(
    request.bytes().catch((error: unknown) => {
      throw stopped(error)
    }),
    timer,
    minuteMs,
  )

/** @throws MynaError `request_timeout` */
export function unlessLate<T>(read: Promise<T>, timer: Timer, afterMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  return Promise.race([read, promise]).finally(timer.after(afterMs, () => reject(stopped())))
}

const stopped = (cause?: unknown): MynaError =>
  new MynaError('request_timeout', 'The request body stopped arriving.', cause === undefined ? {} : { cause })

const slow = (): MynaError =>
  new MynaError('request_timeout', `The request body arrived too slowly: less than ${leastBytes} bytes in a minute.`)
