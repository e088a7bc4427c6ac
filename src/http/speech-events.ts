/**
 * Speech as server-sent events. Lines begin exactly with `data: ` and there are no `event:` lines, because clients test
 * for that prefix. The decoded deltas are byte for byte the stream of `stream_format: "audio"`.
 */
import { MynaError } from '../domain/error.ts'
import type { Speaking } from '../service/speaking.ts'
import { errorBody } from './errors.ts'
import { type Events, event } from './sse.ts'

export const speechEvents = (speaking: Speaking): Events => ({
  async next() {
    const bytes = await speaking.next()
    if (bytes === null) return { text: event(doneEvent(speaking)), isLast: true }
    const audio = Buffer.from(bytes).toString('base64')
    return { text: event({ type: 'speech.audio.delta', audio }), isLast: false }
  },
  errorOf: (error) => errorOf(error, speaking.operation.id),
  gone: () => speaking.clientGone(),
})

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
