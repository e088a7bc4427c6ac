/**
 * `POST /v1/audio/transcriptions` and `/translations` (docs/api.md 3). Without an installed model they answer a 503 of
 * their own that names the command to install one; every other route is unaffected.
 */
import { MynaError } from '../../domain/error.ts'
import type { TranscriptPart } from '../../service/ports/transcription.ts'
import type { TranscriptionRequest, Transcriptions } from '../../service/transcribe.ts'
import type { Transcribing } from '../../service/transcribing.ts'
import { errorBody } from '../errors.ts'
import { transcriptionDetail, translationDetail } from '../openapi/audio.ts'
import type { Answer } from '../openapi/shapes.ts'
import { endpoints } from '../endpoint.ts'
import type { Action, Exchange, Route } from '../exchange.ts'
import { wrongMediaType } from '../multipart.ts'
import { drained, type FormLimits, isMultipart } from '../voices/form.ts'
import type { Gate } from '../gate.ts'
import { comment, event, type Events, eventStreamHeaders, sseSource } from '../sse.ts'
import { streamed } from '../stream.ts'
import { TranscriptText, wholeTranscript } from './body.ts'
import { transcriptDelta, transcriptDone, transcriptSegment } from './records.ts'
import { type AnswerForm, type Asked, readTranscription, type RecordingLimits, transcriptionFields } from './request.ts'

export interface TranscriptionsParts {
  gate: Gate
  transcriptions: Transcriptions
  formLimits: FormLimits
  /** As configured. */
  limits: RecordingLimits
}

export const transcriptionsRoutes = (route: Route, parts: TranscriptionsParts) =>
  endpoints(route, [
    ['POST /v1/audio/transcriptions', transcriptionDetail, action(parts, 'transcribe')],
    ['POST /v1/audio/translations', translationDetail, action(parts, 'translate')],
  ])

function action(parts: TranscriptionsParts, task: TranscriptionRequest['task']): Action {
  const { formLimits, limits } = parts
  const fields = transcriptionFields(limits)
  const read = (request: Request) => readTranscription(request, task, formLimits, fields)
  return transcribeAction(parts, read, (transcribing, answer, exchange) => {
    if (!answer.isStream) return wholeTranscript(transcribing, answer)
    const events = transcriptionEvents(transcribing, answer.segmentEvents)
    return streamed(exchange, sseSource(events, formLimits.timer), eventStreamHeaders)
  })
}

/** @param read reads the request in the words of a protocol, and `answered` answers it in these words */
export function transcribeAction(
  { gate, transcriptions, formLimits }: TranscriptionsParts,
  read: (request: Request) => Promise<Asked>,
  answered: (transcribing: Transcribing, answer: AnswerForm, exchange: Exchange) => Response | Promise<Response>,
): Action {
  return async (exchange) => {
    const { request, requestId } = exchange
    const caller = await gate.enter(exchange, 'tts', 'transcriptions')
    // An upload may be slow and the engine silent for long; both have deadlines of their own.
    exchange.keepOpen()
    const asked: { answer: AnswerForm | null } = { answer: null }
    const readForm = async () => {
      const given = await read(request)
      asked.answer = given.answer
      return given.request
    }
    try {
      if (!isMultipart(request)) throw wrongMediaType()
      const transcribing = await transcriptions.begin(caller, requestId, readForm, request.signal)
      if (asked.answer === null) throw new Error('a transcription began before its form was read')
      return await answered(transcribing, asked.answer, exchange)
    } catch (error) {
      // A client that is still sending would see a reset connection instead of the answer.
      await drained(request, formLimits)
      throw error
    }
  }
}

// A transcript as server-sent events while it is made: a delta per segment, and the whole at the end. Progress is
// reported in comments, which clients ignore.
/** @param withTimes whether each delta is followed by an event with the segment's times */
function transcriptionEvents(transcribing: Transcribing, withTimes: boolean): Events {
  const whole = new TranscriptText()
  let sent = 0
  return {
    async next() {
      const part = await transcribing.next()
      if (part === null) return { text: named(transcriptDone, { transcribing, text: whole.toString() }), isLast: true }
      const lines = part.segments.flatMap((segment) => {
        const delta = whole.add(segment.text)
        const grown = delta === '' ? [] : [named(transcriptDelta, delta)]
        return withTimes ? [...grown, named(transcriptSegment, { ...segment, id: sent++ })] : grown
      })
      return { text: [comment(progress(part, transcribing)), ...lines].join(''), isLast: false }
    },
    errorOf(error) {
      const known = error instanceof MynaError ? error : new MynaError('generation_failed', 'Transcription failed.')
      return errorBody(known, transcribing.id)
    },
    gone: () => transcribing.clientGone(),
    ended: transcribing.settled,
  }
}

/** The event, named by its type. */
function named<S>(record: Answer<S>, source: S): string {
  const data = record.of(source)
  return event(data, String(data.type))
}

/** `heard 61.5 of 300.2`, in seconds; without the end if the file does not state its length. */
function progress({ heardMs }: TranscriptPart, { durationMs }: Transcribing): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  return `heard ${seconds(heardMs)}${durationMs === null ? '' : ` of ${seconds(durationMs)}`}`
}
