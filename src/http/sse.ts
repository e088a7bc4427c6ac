/**
 * Speech as server-sent events. Lines begin exactly with `data: ` and carry no `event:` line, because clients test that
 * prefix; the decoded deltas are byte for byte the stream that `stream_format: "audio"` gives.
 */
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'
import type { Speaking } from '../service/speaking.ts'
import { errorBody } from './errors.ts'
import type { Source } from './stream.ts'

const keepaliveMs = 15_000

/** A destroyed socket takes with it what its reader has not fetched yet: the error event gets this long to arrive. */
const lastWordsMs = 250

export function sseSource(speaking: Speaking, timer: Timer): Source {
  let waiting: Promise<Uint8Array> | null = null
  let state: 'audio' | 'through' | 'broken' = 'audio'
  const step = async (): Promise<Uint8Array> => {
    try {
      const bytes = await speaking.next()
      if (bytes !== null) return event({ type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') })
      state = 'through'
      return Buffer.concat([event(doneEvent(speaking)), text('data: [DONE]\n\n')])
    } catch (error) {
      state = 'broken'
      return event({ type: 'error', error: errorOf(error, speaking.operation.id) })
    }
  }
  return {
    async next() {
      if (state === 'through') return null
      if (state === 'broken') {
        await new Promise<void>((resolve) => timer.after(lastWordsMs, resolve))
        throw new Error('the speech stream broke')
      }
      waiting ??= step()
      const bytes = await orKeepalive(waiting, timer)
      if (bytes === null) return text(': keepalive\n\n')
      waiting = null
      return bytes
    },
    gone: () => speaking.clientGone(),
  }
}

function orKeepalive(waiting: Promise<Uint8Array>, timer: Timer): Promise<Uint8Array | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  return Promise.race([waiting, promise]).finally(timer.after(keepaliveMs, () => resolve(null)))
}

const doneEvent = (speaking: Speaking) => ({
  type: 'speech.audio.done',
  usage: {
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    characters: speaking.usage.characters,
    audio_seconds: speaking.usage.audioSeconds,
  },
  operation_id: speaking.operation.id,
})

function errorOf(error: unknown, operationId: string): Record<string, unknown> {
  const known = error instanceof MynaError ? error : new MynaError('generation_failed', 'Speech generation failed.')
  return { ...errorBody(known, operationId), operation_id: operationId }
}

const text = (line: string): Uint8Array => new TextEncoder().encode(line)
const event = (data: unknown): Uint8Array => text(`data: ${JSON.stringify(data)}\n\n`)
