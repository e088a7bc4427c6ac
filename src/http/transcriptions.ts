/**
 * `POST /v1/audio/transcriptions` and `/translations`. Without an installed model they answer their own 503, which
 * names the command that gets one; every other route is unaffected.
 */
import { Elysia } from 'elysia'
import { MynaError } from '../domain/error.ts'
import { transcriptionDetail, translationDetail } from './describe.ts'
import type { Action, Route } from './exchange.ts'
import type { Gate } from './gate.ts'

export function transcriptionsRoutes(route: Route, gate: Gate) {
  const unavailable: Action = async (exchange) => {
    await gate.enter(exchange, 'tts', 'requests')
    const message = 'No transcription model is installed. Get one with: myna models pull whisper-base'
    throw new MynaError('transcription_unavailable', message)
  }
  return new Elysia()
    .post('/v1/audio/transcriptions', route('/v1/audio/transcriptions', unavailable), {
      parse: 'none',
      detail: transcriptionDetail,
    })
    .post('/v1/audio/translations', route('/v1/audio/translations', unavailable), {
      parse: 'none',
      detail: translationDetail,
    })
}
