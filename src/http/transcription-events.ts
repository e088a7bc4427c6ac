/**
 * A transcript as server-sent events while it is made: a delta per segment, and the whole at the end. Progress is
 * reported in comments, which clients ignore.
 */
import { MynaError } from '../domain/error.ts'
import type { TranscriptPart } from '../service/ports-transcription.ts'
import type { Transcribing } from '../service/transcribing.ts'
import { errorBody } from './errors.ts'
import { comment, type Events, event } from './sse.ts'
import { TranscriptText } from './transcript-text.ts'
import { languagesOf, segmentRecord, skippedOf } from './transcription-body.ts'

/** @param withTimes whether each delta is followed by an event with the segment's times */
export function transcriptionEvents(transcribing: Transcribing, withTimes: boolean): Events {
  const whole = new TranscriptText()
  let told = 0
  return {
    async next() {
      const part = await transcribing.next()
      if (part === null) return { text: named(doneEvent(transcribing, whole.toString())), isLast: true }
      const lines = part.segments.flatMap((segment) => {
        const delta = whole.add(segment.text)
        const grown = delta === '' ? [] : [named({ type: 'transcript.text.delta', delta })]
        const record = { type: 'transcript.text.segment', ...segmentRecord(segment, told++) }
        return withTimes ? [...grown, named(record)] : grown
      })
      return { text: [comment(progress(part, transcribing)), ...lines].join(''), isLast: false }
    },
    errorOf(error) {
      const known = error instanceof MynaError ? error : new MynaError('generation_failed', 'Transcription failed.')
      return errorBody(known, transcribing.id)
    },
    gone: () => transcribing.clientGone(),
  }
}

const named = (data: { type: string } & Record<string, unknown>): string => event(data, data.type)

const doneEvent = (transcribing: Transcribing, text: string) => ({
  type: 'transcript.text.done',
  text,
  ...languagesOf(transcribing),
  usage: {
    type: 'tokens',
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    seconds: Math.ceil((transcribing.durationMs ?? 0) / 1000),
  },
  ...skippedOf(transcribing),
})

/** `heard 61.5 of 300.2`, in seconds; without the end if the file does not state its length. */
function progress({ heardMs }: TranscriptPart, { durationMs }: Transcribing): string {
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  return `heard ${seconds(heardMs)}${durationMs === null ? '' : ` of ${seconds(durationMs)}`}`
}
