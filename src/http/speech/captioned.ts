/**
 * `POST /dev/captioned_speech`: speech with the times of its words, in the shape that Kokoro-FastAPI gave this route
 * (github.com/remsky/Kokoro-FastAPI, api/src/routers/development.py and structures/schemas.py) and that readers,
 * editors and dubbing tools call. Whole, one JSON object; streamed, one object a line, each with its piece of audio.
 */
import type { AudioFormat, SpeechRequest, SpokenWord } from '../../domain/speech.ts'
import type { Speaking } from '../../service/speaking.ts'
import { parseIdempotencyKey } from '../../domain/idempotency.ts'
import { type Body, readJson } from '../body.ts'
import { endpoints } from '../endpoint.ts'
import { type Action, type Exchange, json, type Route } from '../exchange.ts'
import { parseFields } from '../fields/field.ts'
import { openAiDialect } from '../fields/refusals.ts'
import { captionedSpeechDetail } from '../openapi/audio.ts'
import type { Json } from '../openapi/shapes.ts'
import { captionFields, parseSpeechRequest, speechFields } from './request.ts'
import { type SpeechParts, warn } from './speech.ts'
import { captionedPiece } from './records.ts'
import { type Source, streamed } from '../stream.ts'

export function captionedSpeechRoutes(route: Route, parts: SpeechParts) {
  const fields = speechFields(parts.limits)
  const speak = captionAction(parts, (body) => {
    const { stream: isStream, return_timestamps: wordTimes } = parseFields(captionFields, body, openAiDialect)
    const asked = { ...parseSpeechRequest({ ...body, stream_format: 'sse', timestamps: null }, fields), wordTimes }
    const { input } = asked
    const told = (piece: Piece) =>
      piece.lengthS !== null && piece.bytes.length === 0 ? null : captionedPiece.of({ ...piece, input, wordTimes })
    return { asked, isStream, told }
  })
  return endpoints(route, [
    ['POST /dev/captioned_speech', captionedSpeechDetail, speak],
    ['POST /v1/audio/captioned_speech', null, speak],
  ])
}

/** A piece of the sound and the words that begin in it; or all of it. */
export interface Piece {
  bytes: Uint8Array
  format: AudioFormat
  words: readonly SpokenWord[]
  /** How long all of it is; null: more may come. The last one of a stream has no bytes. */
  lengthS: number | null
}

export interface Captions {
  asked: SpeechRequest
  /** One object a line, as the speech is made; otherwise one with all of it. */
  isStream: boolean
  /** Each piece, in turn, in the words of a protocol; null: nothing is left to say, only for the last one. */
  told: (piece: Piece) => Json | null
}

/** @param parse reads the request in the words of a protocol @returns what speaks it with the times of its words */
export const captionAction =
  (parts: SpeechParts, parse: (body: Body, exchange: Exchange) => Captions): Action =>
  async (exchange) => {
    const { request } = exchange
    const caller = await parts.gate.enter(exchange, 'tts', 'speech')
    const body = await readJson(request, parts.bodyLimits)
    const key = parseIdempotencyKey(request.headers.get('idempotency-key'))
    const { asked, isStream, told } = parse(body, exchange)
    exchange.keepOpen()
    const speaking = await parts.speech.begin(caller, asked, key, request.signal)
    exchange.requestId = speaking.operation.id
    warn(exchange, speaking)
    if (!isStream) return json(told(await whole(speaking)))
    return streamed(exchange, linesOf(speaking, told), { 'content-type': 'application/json; charset=utf-8' })
  }

async function whole(speaking: Speaking): Promise<Piece> {
  const bytes = await speaking.all()
  const { format, usage } = speaking
  return { bytes, format, words: speaking.takeWords(), lengthS: usage.audioSeconds }
}

function linesOf(speaking: Speaking, told: Captions['told']): Source {
  let isOver = false
  const lineOf = (bytes: Uint8Array, lengthS: number | null): Uint8Array | null => {
    const record = told({ bytes, format: speaking.format, words: speaking.takeWords(), lengthS })
    return record === null ? null : new TextEncoder().encode(`${JSON.stringify(record)}\n`)
  }
  return {
    async next() {
      const bytes = isOver ? null : await speaking.next()
      if (bytes !== null) return lineOf(bytes, null)
      if (isOver) return null
      isOver = true
      return lineOf(new Uint8Array(), speaking.usage.audioSeconds)
    },
    gone: () => speaking.clientGone(),
    ended: speaking.settled,
  }
}
