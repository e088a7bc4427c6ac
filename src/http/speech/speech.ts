/** `POST /v1/audio/speech`: decodes the request, begins the work, hands over the stream (docs/api.md 2). */
import { MynaError } from '../../domain/error.ts'
import { parseIdempotencyKey } from '../../domain/idempotency.ts'
import type { SpeechRequest } from '../../domain/speech.ts'
import type { Timer } from '../../domain/time.ts'
import type { Speech } from '../../service/speak.ts'
import type { Speaking } from '../../service/speaking.ts'
import { type Body, type BodyLimits, readJson } from '../body.ts'
import { speechDetail } from '../openapi/audio.ts'
import { audioTypes } from '../content-types.ts'
import { endpoints } from '../endpoint.ts'
import { errorBody } from '../errors.ts'
import type { Action, Exchange, Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import { speechDelta, speechDone, speechTimestamps } from './records.ts'
import { parseSpeechRequest, speechFields, type SpeechLimits } from './request.ts'
import { event, type Events, eventStreamHeaders, sseSource } from '../sse.ts'
import { type Source, streamed } from '../stream.ts'
import { wordsOf } from './word-records.ts'

export interface SpeechParts {
  gate: Gate
  speech: Speech
  timer: Timer
  bodyLimits: BodyLimits
  /** As configured. */
  limits: SpeechLimits
}

export function speechRoutes(route: Route, parts: SpeechParts) {
  const fields = speechFields(parts.limits)
  const speak = speakAction(parts, (body) => parseSpeechRequest(body, fields))
  return endpoints(route, [['POST /v1/audio/speech', speechDetail, speak]])
}

/** @param parse reads the request in the words of a protocol @returns what speaks it */
export const speakAction =
  (parts: SpeechParts, parse: (body: Body, exchange: Exchange) => SpeechRequest): Action =>
  async (exchange) => {
    const { request } = exchange
    const caller = await parts.gate.enter(exchange, 'tts', 'speech')
    const body = await readJson(request, parts.bodyLimits)
    const idempotencyKey = parseIdempotencyKey(request.headers.get('idempotency-key'))
    const asked = parse(body, exchange)
    // The engine may take longer than an idle connection is allowed to; the service has deadlines of its own.
    exchange.keepOpen()
    const speaking = await parts.speech.begin(caller, asked, idempotencyKey, request.signal)
    exchange.requestId = speaking.operation.id
    warn(exchange, speaking)
    if (asked.streamFormat === 'audio') return streamed(exchange, audioSource(speaking), audioHeaders(speaking))
    return streamed(exchange, sseSource(speechEvents(speaking, asked.input), parts.timer), eventStreamHeaders)
  }

/** Of a name that will end: the client is served all the same. */
export function warn({ headers }: Exchange, { warning }: Speaking): void {
  if (warning !== null) headers.set('x-myna-warning', warning)
}

const audioSource = (speaking: Speaking): Source => ({
  next: () => speaking.next(),
  gone: () => speaking.clientGone(),
  ended: speaking.settled,
})

function audioHeaders({ format, sampleRateHz }: Speaking): Record<string, string> {
  const raw = format === 'pcm' || format === 'wav'
  return {
    'content-type': audioTypes[format],
    'content-disposition': `inline; filename="speech.${format}"`,
    ...(raw ? { 'x-audio-sample-rate': String(sampleRateHz), 'x-audio-channels': '1' } : {}),
  }
}

// Speech as server-sent events. Lines begin exactly with `data: ` and there are no `event:` lines, because clients test
// for that prefix. The decoded deltas are byte for byte the stream of `stream_format: "audio"`.
const speechEvents = (speaking: Speaking, input: string): Events => ({
  async next() {
    const bytes = await speaking.next()
    if (bytes === null) return { text: event(speechDone.of(speaking)), isLast: true }
    return { text: event(speechDelta.of(bytes)) + timesEvent(speaking, input), isLast: false }
  },
  errorOf: (error) => errorOf(error, speaking.operation.id),
  gone: () => speaking.clientGone(),
  ended: speaking.settled,
})

/** Clients that do not know it ignore it. */
function timesEvent(speaking: Speaking, input: string): string {
  const words = wordsOf(speaking.takeWords(), input, speaking.format)
  return words.length === 0 ? '' : event(speechTimestamps.of(words))
}

function errorOf(error: unknown, operationId: string): Record<string, unknown> {
  const known = error instanceof MynaError ? error : new MynaError('generation_failed', 'Speech generation failed.')
  return { ...errorBody(known, operationId), operation_id: operationId }
}
