/**
 * `POST /dev/captioned_speech`: speech with the times of its words, in the shape that Kokoro-FastAPI gave this route
 * (github.com/remsky/Kokoro-FastAPI, api/src/routers/development.py and structures/schemas.py) and that readers,
 * editors and dubbing tools call. Whole, one JSON object; streamed, one object a line, each with its piece of audio.
 */
import type { SpokenWord } from '../../domain/speech.ts'
import type { Speaking } from '../../service/speaking.ts'
import { parseIdempotencyKey } from '../../domain/idempotency.ts'
import { readJson } from '../body.ts'
import { endpoints } from '../endpoint.ts'
import { type Action, json, type Route } from '../exchange.ts'
import { parseFields } from '../fields/field.ts'
import { openAiDialect } from '../fields/refusals.ts'
import { captionedSpeechDetail } from '../openapi/audio.ts'
import { captionFields, parseSpeechRequest, speechFields } from './request.ts'
import { type SpeechParts, warn } from './speech.ts'
import { captionedPiece } from './records.ts'
import { streamed } from '../stream.ts'

export function captionedSpeechRoutes(route: Route, parts: SpeechParts) {
  const fields = speechFields(parts.limits)
  const speak: Action = async (exchange) => {
    const { request } = exchange
    const caller = await parts.gate.enter(exchange, 'tts', 'speech')
    const body = await readJson(request, parts.bodyLimits)
    const key = parseIdempotencyKey(request.headers.get('idempotency-key'))
    const { stream, return_timestamps: wordTimes } = parseFields(captionFields, body, openAiDialect)
    const asked = { ...parseSpeechRequest({ ...body, stream_format: 'sse', timestamps: null }, fields), wordTimes }
    exchange.keepOpen()
    const speaking = await parts.speech.begin(caller, asked, key, request.signal)
    exchange.requestId = speaking.operation.id
    warn(exchange, speaking)
    if (!stream) return json(await whole(speaking, asked.input, wordTimes))
    const lines = new Lines(speaking, asked.input, wordTimes)
    const source = { next: () => lines.next(), gone: () => speaking.clientGone(), ended: speaking.settled }
    return streamed(exchange, source, { 'content-type': 'application/json; charset=utf-8' })
  }
  return endpoints(route, [
    ['POST /dev/captioned_speech', captionedSpeechDetail, speak],
    ['POST /v1/audio/captioned_speech', null, speak],
  ])
}

async function whole(speaking: Speaking, input: string, wordTimes: boolean) {
  const pieces: Uint8Array[] = []
  const words: SpokenWord[] = []
  for (let bytes = await speaking.next(); bytes !== null; bytes = await speaking.next()) {
    pieces.push(bytes)
    words.push(...speaking.takeWords())
  }
  words.push(...speaking.takeWords())
  return captionedPiece.of({ bytes: Buffer.concat(pieces), format: speaking.format, words, input, wordTimes })
}

class Lines {
  readonly #speaking: Speaking
  readonly #input: string
  readonly #wordTimes: boolean

  constructor(speaking: Speaking, input: string, wordTimes: boolean) {
    this.#speaking = speaking
    this.#input = input
    this.#wordTimes = wordTimes
  }

  async next(): Promise<Uint8Array | null> {
    const bytes = await this.#speaking.next()
    if (bytes === null) return null
    const line = captionedPiece.of({
      bytes,
      format: this.#speaking.format,
      words: this.#speaking.takeWords(),
      input: this.#input,
      wordTimes: this.#wordTimes,
    })
    return new TextEncoder().encode(`${JSON.stringify(line)}\n`)
  }
}
