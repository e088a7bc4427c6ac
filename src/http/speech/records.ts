/**
 * Declares what speech answers with besides audio: events (docs/api.md 2.4), and pieces with the times of their words.
 */
import type { AudioFormat, SpokenWord } from '../../domain/speech.ts'
import type { Speaking } from '../../service/speaking.ts'
import { audioTypes } from '../content-types.ts'
import { exampleOperationId } from '../error-codes.ts'
import * as is from '../openapi/shapes.ts'
import { from, maybe } from '../openapi/shapes.ts'
import { eventStream, exampleOf, noTokens } from '../sse-record.ts'
import { wordsOf } from './word-records.ts'

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')

const slice: is.Shape<string> = {
  schema: {
    type: 'string',
    format: 'byte',
    description: 'A slice of the stream that `stream_format: audio` gives, in Base64.',
  },
  example: '//OkxAAAAANIAAAAAExBTUUz',
}

export const speechDelta = is.answer<Uint8Array>('', {
  type: is.constant('speech.audio.delta'),
  audio: from(slice, base64),
})

export const speechDone = is.answer<Speaking>('', {
  type: is.constant('speech.audio.done'),
  usage: is.answer<Speaking>('', {
    ...noTokens,
    characters: from(is.whole(45), ({ usage }) => usage.characters),
    audio_seconds: from(is.number(3.2), ({ usage }) => usage.audioSeconds),
  }),
  operation_id: from(is.text(exampleOperationId), ({ operation }) => operation.id),
})

const writtenWord = is.text('Hello', 'As it is written in the input.')
const estimated = is.flag(
  false,
  'The model does not time its words: they were shared out over the sound by their length.',
)

type TimedWord = ReturnType<typeof wordsOf>[number]

const eventWord = is.answer<TimedWord>('', {
  word: from(writtenWord, 'word'),
  start: from(is.number(0.275, 'Seconds from the beginning of the audio.'), 'start'),
  end: from(is.number(0.6), 'end'),
  text_start: from(is.count(0, 'Where it begins in the input, in characters.'), 'text_start'),
  text_end: from(is.count(5), 'text_end'),
})

export const speechTimestamps = is.answer<readonly TimedWord[]>(
  'The words that begin in the audio before it; only if `timestamps` asked for them.',
  {
    type: is.constant('speech.audio.timestamps'),
    words: from(is.list(eventWord), (words: readonly TimedWord[]) => words.map(eventWord.of)),
    estimated: from(estimated, (words: readonly TimedWord[]) => words.some(({ isEstimated }) => isEstimated)),
  },
)

export const speechEvents = eventStream(
  'Lines that begin with `data: `: a `SpeechDeltaEvent` each, and after it a `SpeechTimestampsEvent` if word times ' +
    'were asked for; finally one `SpeechDoneEvent` and `[DONE]`. There are no `event:` lines. A comment ' +
    '`: keepalive` comes every 15 seconds of silence. After a `SpeechErrorEvent` the connection is cut.',
  [exampleOf(speechDelta), exampleOf(speechDone)],
)

/** A piece of speech and its words; or all of it. */
export interface Captioned {
  bytes: Uint8Array
  format: AudioFormat
  words: readonly SpokenWord[]
  /** Of the request, which the words are parts of. */
  input: string
  /** Whether times were asked for. */
  wordTimes: boolean
}

const word = is.answer<ReturnType<typeof wordsOf>[number]>('', {
  word: from(writtenWord, 'word'),
  start_time: from(is.number(0.275, 'Seconds from the beginning of all the audio.'), 'start'),
  end_time: from(is.number(0.6), 'end'),
})

const timestamps: is.Shape<readonly is.Json[] | null> = {
  schema: { ...is.list(word).schema, type: ['array', 'null'] } as is.Shape['schema'],
  example: [word.example ?? {}],
}

export const captionedPiece = is.answer<Captioned>('', {
  audio: from(is.text('SUQzBAA=', 'Base64 of bytes of the `response_format`.'), ({ bytes }) => base64(bytes)),
  audio_format: from(is.text('audio/mpeg', 'Its media type.'), ({ format }) => audioTypes[format]),
  timestamps: from(timestamps, ({ words, input, format, wordTimes }) =>
    wordTimes ? wordsOf(words, input, format).map(word.of) : null,
  ),
  // Ours: whether the times are the model's own.
  timestamps_estimated: maybe(estimated, ({ words }) =>
    words.length === 0 ? undefined : words.some(({ isEstimated }) => isEstimated),
  ),
})
