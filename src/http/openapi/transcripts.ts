/** What speech and transcription answer with besides audio: transcripts and events, each with an example. */
import { exampleOperationId } from '../error-codes.ts'
import * as is from './shapes.ts'
import type { Shape } from './shapes.ts'

const events = (about: string, example: string): Shape => ({
  schema: { type: 'string', description: about },
  example,
})

const noTokens = {
  input_tokens: is.zero('There are no tokens here.'),
  output_tokens: is.zero(),
  total_tokens: is.zero(),
}

const speechDelta = is.record({
  type: is.constant('speech.audio.delta'),
  audio: {
    schema: {
      type: 'string',
      format: 'byte',
      description: 'A slice of the stream that `stream_format: audio` gives, in Base64.',
    },
    example: '//OkxAAAAANIAAAAAExBTUUz',
  },
})

const speechDone = is.record({
  type: is.constant('speech.audio.done'),
  usage: is.record({ ...noTokens, characters: is.whole(45), audio_seconds: is.number(3.2) }),
  operation_id: is.text(exampleOperationId),
})

const usageSeconds = is.record({ type: is.constant('duration'), seconds: is.whole(2, 'Rounded up.') })

const skipped = is.number(
  undefined,
  'Seconds of the recording that are damaged or missing and were treated as silence, so that all times stay correct; ' +
    'absent if none. If more is damaged than intact, the answer is 400 `invalid_audio`.',
)

const languages = is.list(
  is.record({ code: is.text('en') }),
  'The detected languages; absent if there was no speech to detect them from.',
)

const transcription = is.record(
  { text: is.text('Good morning.', 'Empty for silence.'), languages, usage: usageSeconds, skipped_seconds: skipped },
  '',
  ['languages', 'skipped_seconds'],
)

const seconds = (example: number) => is.number(example, 'Seconds from the beginning.')

const segmentFields = {
  id: is.whole(0),
  seek: is.whole(0, 'Start of the window that contained it, in hundredths of a second.'),
  start: seconds(0),
  end: seconds(1.42),
  text: is.text(' Good morning.'),
  tokens: is.list(is.whole(), '', []),
  temperature: is.number(0),
  avg_logprob: is.number(-0.2),
  compression_ratio: is.number(1.1),
  no_speech_prob: is.number(0.01),
}

const verboseTranscription = is.record(
  {
    task: is.oneOf(['transcribe', 'translate'], 'transcribe'),
    language: {
      schema: {
        type: 'string',
        description: 'The English name in lower case; `unknown` if there was no speech.',
        examples: ['english'],
      } as object,
      example: 'english',
    },
    duration: is.number(1.42, 'Seconds.'),
    text: is.text('Good morning.'),
    segments: is.list(is.record(segmentFields)),
    words: { ...is.list(is.record({ word: is.text(), start: seconds(0), end: seconds(0) })), example: undefined },
    words_estimated: {
      schema: {
        type: 'boolean',
        description: 'The model does not time its words: they share the time of their segment by their length.',
      } as object,
      example: undefined,
    },
    usage: usageSeconds,
    skipped_seconds: skipped,
  },
  '',
  ['segments', 'words', 'words_estimated', 'skipped_seconds'],
)

const transcriptDelta = is.record({
  type: is.constant('transcript.text.delta'),
  delta: is.text('Good morning.', 'The added text: all deltas together are the whole.'),
})

const transcriptDone = is.record(
  {
    type: is.constant('transcript.text.done'),
    text: is.text('Good morning.'),
    languages,
    skipped_seconds: skipped,
    usage: is.record({ type: is.constant('tokens'), ...noTokens, seconds: is.whole(2, 'Of audio, rounded up.') }),
  },
  '',
  ['languages', 'skipped_seconds'],
)

const event = ({ example }: Shape): string => JSON.stringify(example)

export const transcriptRecords = {
  SpeechEvents: events(
    'Lines that begin with `data: `: a `SpeechDeltaEvent` each, finally one `SpeechDoneEvent` and `[DONE]`. There ' +
      'are no `event:` lines. A comment `: keepalive` comes every 15 seconds of silence. After a `SpeechErrorEvent` ' +
      'the connection is cut.',
    [`data: ${event(speechDelta)}`, `data: ${event(speechDone)}`, 'data: [DONE]', ''].join('\n\n'),
  ),
  SpeechDeltaEvent: speechDelta,
  SpeechDoneEvent: speechDone,
  SpeechErrorEvent: is.record({ type: is.constant('error'), error: is.named('ErrorObject', is.text()) }),
  Transcription: transcription,
  VerboseTranscription: verboseTranscription,
  TranscriptEvents: events(
    'A `TranscriptDeltaEvent` for each piece of text, each followed by a `TranscriptSegmentEvent` with ' +
      '`include[]=segments`; finally one `TranscriptDoneEvent` and `data: [DONE]`. `event:` lines name them. ' +
      'Comments such as `: heard 61.5 of 300.2` report progress in seconds; `: keepalive` comes every 15 seconds of ' +
      'silence. After an event of type `error` the connection is cut.',
    [
      ': heard 1.4 of 1.4',
      `event: transcript.text.delta\ndata: ${event(transcriptDelta)}`,
      `event: transcript.text.done\ndata: ${event(transcriptDone)}`,
      'data: [DONE]',
      '',
    ].join('\n\n'),
  ),
  TranscriptDeltaEvent: transcriptDelta,
  TranscriptSegmentEvent: is.record({ type: is.constant('transcript.text.segment'), ...segmentFields }),
  TranscriptDoneEvent: transcriptDone,
}
