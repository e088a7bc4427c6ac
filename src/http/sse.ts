/**
 * Server-sent events for speech and transcription. Comments keep a quiet connection open; an error after the status is
 * reported in an event before the connection is cut.
 */
import type { Timer } from '../domain/time.ts'
import type { Source } from './stream.ts'

export interface Events {
  /** @throws the error that ended the stream */
  next(): Promise<{ text: string; isLast: boolean }>
  /** The client's error event for an error that `next` threw. */
  errorOf(error: unknown): Record<string, unknown>
  /** The client has disconnected. */
  gone(): void
  /** As that of a source. */
  ended?: Promise<unknown>
}

const keepaliveMs = 15_000

/** Destroying a socket discards what its reader has not fetched yet: the error event gets this long to arrive. */
const lastWordsMs = 250

export function sseSource(events: Events, timer: Timer): Source {
  let waiting: Promise<string> | null = null
  let state: 'open' | 'through' | 'broken' = 'open'
  const step = async (): Promise<string> => {
    try {
      const { text, isLast } = await events.next()
      if (!isLast) return text
      state = 'through'
      return `${text}data: [DONE]\n\n`
    } catch (error) {
      state = 'broken'
      return event({ type: 'error', error: events.errorOf(error) })
    }
  }
  return {
    async next() {
      if (state === 'through') return null
      if (state === 'broken') {
        await new Promise<void>((resolve) => timer.after(lastWordsMs, resolve))
        throw new Error('the stream broke')
      }
      waiting ??= step()
      const text = await orKeepalive(waiting, timer)
      if (text !== null) waiting = null
      return new TextEncoder().encode(text ?? comment('keepalive'))
    },
    gone: () => events.gone(),
    ...(events.ended !== undefined && { ended: events.ended }),
  }
}

function orKeepalive(waiting: Promise<string>, timer: Timer): Promise<string | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  return Promise.race([waiting, promise]).finally(timer.after(keepaliveMs, () => resolve(null)))
}

/** @param name null: no `event:` line */
export const event = (data: unknown, name: string | null = null): string =>
  `${name === null ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`

/** Every client that does not look for comments ignores them. */
export const comment = (text: string): string => `: ${text}\n\n`

export const eventStreamHeaders = { 'content-type': 'text/event-stream; charset=utf-8' }
