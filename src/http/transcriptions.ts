/**
 * `POST /v1/audio/transcriptions` and `/translations` (docs/api.md 3). Without an installed model they answer a 503 of
 * their own that names the command to install one; every other route is unaffected.
 */
import { Elysia } from 'elysia'
import type { Transcriptions, TranscriptionRequest } from '../service/transcribe.ts'
import { transcriptionDetail, translationDetail } from './openapi/transcription.ts'
import type { Action, Route } from './exchange.ts'
import { drained, type FormLimits } from './form.ts'
import type { Gate } from './gate.ts'
import { eventStreamHeaders, sseSource } from './sse.ts'
import { streamed } from './stream.ts'
import { wholeTranscript } from './transcription-body.ts'
import { transcriptionEvents } from './transcription-events.ts'
import { type AnswerForm, readTranscription } from './transcription-request.ts'

export interface TranscriptionsParts {
  gate: Gate
  transcriptions: Transcriptions
  formLimits: FormLimits
}

export const transcriptionsRoutes = (route: Route, parts: TranscriptionsParts) =>
  new Elysia()
    .post('/v1/audio/transcriptions', route('/v1/audio/transcriptions', action(parts, 'transcribe')), {
      parse: 'none',
      detail: transcriptionDetail,
    })
    .post('/v1/audio/translations', route('/v1/audio/translations', action(parts, 'translate')), {
      parse: 'none',
      detail: translationDetail,
    })

const action =
  ({ gate, transcriptions, formLimits }: TranscriptionsParts, task: TranscriptionRequest['task']): Action =>
  async (exchange) => {
    const { request, requestId } = exchange
    const caller = await gate.enter(exchange, 'tts', 'transcriptions')
    // An upload may be slow and the engine silent for long; both have deadlines of their own.
    exchange.keepOpen()
    const asked: { answer: AnswerForm | null } = { answer: null }
    const read = async () => {
      const given = await readTranscription(request, task, formLimits)
      asked.answer = given.answer
      return given.request
    }
    try {
      const transcribing = await transcriptions.begin(caller, requestId, read, request.signal)
      const { answer } = asked
      if (answer === null) throw new Error('a transcription began before its form was read')
      if (!answer.isStream) return await wholeTranscript(transcribing, answer)
      const events = transcriptionEvents(transcribing, answer.segmentEvents)
      return streamed(sseSource(events, formLimits.timer), eventStreamHeaders)
    } catch (error) {
      // A client that is still sending would see a reset connection instead of the answer.
      await drained(request, formLimits)
      throw error
    }
  }
