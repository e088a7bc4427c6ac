/**
 * The one function that makes a streamed response. A generator handler would not do: Elysia ends its throw as a
 * complete 200, and a truncated stream that looks complete is the worst possible answer.
 */
import type { Exchange } from './exchange.ts'

export interface Source {
  /** The next bytes; asking for them means that the previous ones were taken. null: everything was handed over. */
  next(): Promise<Uint8Array | null>
  /** The client has disconnected. */
  gone(): void
  /** Resolves once no more will come, whether `next` is called or not; absent: only `next` knows. */
  ended?: Promise<unknown>
}

/** `close` is called only after the source has finished; on any error the socket is destroyed. */
export function streamed(exchange: Exchange, source: Source, headers: Record<string, string>): Response {
  let isOpen = true
  exchange.isStreaming = true
  // A client that reads no more never asks for the end, and what was written for it would stay in memory with it.
  void source.ended?.then(() => isOpen && exchange.closeSoon())
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let bytes: Uint8Array | null
        try {
          bytes = await source.next()
        } catch {
          isOpen = false
          // Only `undefined` destroys the socket without printing itself to stderr; the source has already logged its
          // error.
          controller.error(undefined)
          return
        }
        if (bytes !== null) {
          controller.enqueue(bytes)
          return
        }
        isOpen = false
        exchange.letClose()
        controller.close()
      },
      cancel() {
        isOpen = false
        source.gone()
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, {
    headers: { 'cache-control': 'no-store', 'x-accel-buffering': 'no', ...headers },
  })
}
