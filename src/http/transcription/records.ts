/** A transcript as JSON and as events (docs/api.md 3.2 and 3.3): one line a field, for the answer and the document. */
import { estimatedWords } from '../../domain/estimated-words.ts'
import { languageName } from '../../domain/language.ts'
import type { TranscriptSegment, TranscriptWord } from '../../domain/transcript.ts'
import type { Transcribing } from '../../service/transcribing.ts'
import * as is from '../openapi/shapes.ts'
import { from, maybe } from '../openapi/shapes.ts'
import { eventStream, exampleOf, noTokens } from '../sse-record.ts'
import type { AnswerForm } from './request.ts'

/** All of it, at its end. */
export interface Whole {
  transcribing: Transcribing
  text: string
  segments: readonly TranscriptSegment[]
  granularities: AnswerForm['granularities']
}

const usage = is.answer<Whole>('', {
  type: is.constant('duration'),
  seconds: from(is.whole(2, 'Rounded up.'), lengthS),
})

function lengthS({ transcribing }: Pick<Whole, 'transcribing'>): number {
  return Math.ceil((transcribing.durationMs ?? 0) / 1000)
}

/** Seconds that could not be decoded; `undefined`: none. Known only at the end. */
export const skippedS = ({ skippedMs }: Transcribing): number | undefined =>
  skippedMs === 0 ? undefined : seconds(skippedMs)

export const skipped = maybe(
  is.number(
    undefined,
    'Seconds of the recording that are damaged or missing and were treated as silence, so that all times stay ' +
      'correct; absent if none. If more is damaged than intact, the answer is 400 `invalid_audio`.',
  ),
  ({ transcribing }: Pick<Whole, 'transcribing'>) => skippedS(transcribing),
)

/** The detected language; a translation is English. null: there was no speech. */
export const languageOf = ({ order, language }: Transcribing): string | null =>
  order.task === 'translate' ? 'en' : language

const languages = maybe(
  is.list(
    is.record('', { code: is.text('en') }),
    'The detected languages; absent if there was no speech to detect them from.',
  ),
  ({ transcribing }: Pick<Whole, 'transcribing'>) => {
    const code = languageOf(transcribing)
    return code === null ? undefined : [{ code }]
  },
)

export const transcription = is.answer<Whole>('', {
  text: from(is.text('Good morning.', 'Empty for silence.'), 'text'),
  languages,
  usage,
  skipped_seconds: skipped,
})

const second = (example: number) => is.number(example, 'Seconds from the beginning.')

interface Numbered extends TranscriptSegment {
  /** From 0. */
  id: number
}

/** All ten fields, always: some clients refuse the whole answer if one is missing. */
const segmentFields: Readonly<Record<string, is.Sent<Numbered>>> = {
  id: from(is.whole(0), 'id'),
  // In frames of 10 ms, as Whisper counts.
  seek: from(is.whole(0, 'Start of the window that contained it, in hundredths of a second.'), ({ seekMs }) =>
    Math.round(seekMs / 10),
  ),
  start: from(second(0), ({ startMs }) => seconds(startMs)),
  end: from(second(1.42), ({ endMs }) => seconds(endMs)),
  text: from(is.text(' Good morning.'), ({ text }) => text.toWellFormed()),
  tokens: from(is.list(is.whole(), '', []), 'tokens'),
  temperature: from(is.number(0), 'temperature'),
  avg_logprob: from(is.number(-0.2), 'avgLogprob'),
  compression_ratio: from(is.number(1.1), 'compressionRatio'),
  no_speech_prob: from(is.number(0.01), 'noSpeechProb'),
}
const segment = is.answer('', segmentFields)

const word = is.answer<TranscriptWord>('', {
  word: from(is.text(), ({ text }) => text.toWellFormed()),
  start: from(second(0), ({ startMs }) => seconds(startMs)),
  end: from(second(0), ({ endMs }) => seconds(endMs)),
})

/** Estimated where the model has none: an empty list would say that nothing was said. */
export const wordsOf = (segments: readonly TranscriptSegment[]): TranscriptWord[] =>
  segments.flatMap((segment) => segment.words ?? estimatedWords(segment))

export const isEstimated = ({ words, text }: TranscriptSegment): boolean => words === null && text.trim() !== ''

const language: is.Shape<string> = {
  schema: {
    type: 'string',
    description: 'The English name in lower case; `unknown` if there was no speech.',
    examples: ['english'],
  } as object,
  example: 'english',
}

export const verboseTranscription = is.answer<Whole>('', {
  task: from(is.oneOf(['transcribe', 'translate'], 'transcribe'), ({ transcribing }) => transcribing.order.task),
  // Without speech no language can be detected, but clients insist on a text.
  language: from(language, ({ transcribing }) => {
    const code = languageOf(transcribing)
    return code === null ? 'unknown' : languageName(code)
  }),
  duration: from(is.number(1.42, 'Seconds.'), ({ transcribing }) => seconds(transcribing.durationMs ?? 0)),
  text: from(is.text('Good morning.'), 'text'),
  segments: maybe(is.list(segment), ({ segments, granularities }) =>
    granularities.has('segment') ? segments.map((one, id) => segment.of({ ...one, id })) : undefined,
  ),
  words: maybe(is.unshown(is.list(word)), ({ segments, granularities }) =>
    granularities.has('word') ? wordsOf(segments).map(word.of) : undefined,
  ),
  words_estimated: maybe(
    is.flag(undefined, 'The model does not time its words: they share the time of their segment by their length.'),
    ({ segments, granularities }) => (granularities.has('word') && segments.some(isEstimated)) || undefined,
  ),
  usage,
  skipped_seconds: skipped,
})

export const transcriptDelta = is.answer<string>('', {
  type: is.constant('transcript.text.delta'),
  delta: from(is.text('Good morning.', 'The added text: all deltas together are the whole.'), (delta: string) => delta),
})

export const transcriptSegment = is.answer<Numbered>('', {
  type: is.constant('transcript.text.segment'),
  ...segmentFields,
})

export const transcriptDone = is.answer<Pick<Whole, 'transcribing' | 'text'>>('', {
  type: is.constant('transcript.text.done'),
  text: from(is.text('Good morning.'), 'text'),
  languages,
  skipped_seconds: skipped,
  usage: is.answer<Pick<Whole, 'transcribing'>>('', {
    type: is.constant('tokens'),
    ...noTokens,
    seconds: from(is.whole(2, 'Of audio, rounded up.'), lengthS),
  }),
})

export const transcriptEvents = eventStream(
  'A `TranscriptDeltaEvent` for each piece of text, each followed by a `TranscriptSegmentEvent` with ' +
    '`include[]=segments`; finally one `TranscriptDoneEvent` and `data: [DONE]`. `event:` lines name them. Comments ' +
    'such as `: heard 61.5 of 300.2` report progress in seconds; `: keepalive` comes every 15 seconds of silence. ' +
    'After an event of type `error` the connection is cut.',
  [
    ': heard 1.4 of 1.4',
    exampleOf(transcriptDelta, 'transcript.text.delta'),
    exampleOf(transcriptDone, 'transcript.text.done'),
  ],
)

export function seconds(ms: number): number {
  return Math.round(ms) / 1000
}
