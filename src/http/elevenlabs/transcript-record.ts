/** Declares a transcript in ElevenLabs' words: between two words stands the space that the text has there. */
import type { TranscriptWord } from '../../domain/transcript.ts'
import * as is from '../openapi/shapes.ts'
import { from, maybe } from '../openapi/shapes.ts'
import { isEstimated, languageOf, seconds, skipped, type Whole, wordsOf } from '../transcription/records.ts'

type Heard = Pick<Whole, 'transcribing' | 'text' | 'segments'>

interface Token extends TranscriptWord {
  type: 'word' | 'spacing'
}

const second = (example: number) => is.number(example, 'Seconds from the beginning.')

const token = is.answer<Token>('', {
  text: from(is.text('Good'), 'text'),
  start: from(second(0.1), ({ startMs }) => seconds(startMs)),
  end: from(second(0.4), ({ endMs }) => seconds(endMs)),
  type: from(is.oneOf(['word', 'spacing'], 'word'), 'type'),
  logprob: from(is.number(-0.1, '0 if the model does not say.'), ({ probability }) =>
    probability === null || probability <= 0 ? 0 : Math.log(probability),
  ),
})

export const transcript = is.answer<Heard>('', {
  language_code: from(
    is.text('en', 'ISO 639-1 where it has one; `und` if there was no speech.'),
    ({ transcribing }) => languageOf(transcribing) ?? 'und',
  ),
  language_probability: from(is.number(1, 'Always 1: our models name one language, without a probability.'), () => 1),
  text: from(is.text('Good morning.', 'Empty for silence.'), 'text'),
  words: from(is.list(token), ({ segments, text }) => tokensOf(wordsOf(segments), text).map(token.of)),
  audio_duration_secs: from(is.number(1.42), ({ transcribing }) => seconds(transcribing.durationMs ?? 0)),
  transcription_id: from(is.text('req_01KAJ5ZV3M2N1P0Q9R8S7T6V5W'), ({ transcribing }) => transcribing.id),
  // Ours.
  words_estimated: from(
    is.flag(false, 'The model does not time its words: they share the time of their segment by their length.'),
    ({ segments }) => segments.some(isEstimated),
  ),
  skipped_seconds: maybe(skipped, skipped.of),
})

/** The words in their order, and what the text has between them. */
export function tokensOf(words: readonly TranscriptWord[], text: string): Token[] {
  let place = 0
  let endMs = 0
  return words.flatMap((word) => {
    const wellFormed = { ...word, text: word.text.toWellFormed() }
    const found = text.indexOf(wellFormed.text, place)
    const between = found < 0 ? '' : text.slice(place, found)
    const space: Token = { text: between, startMs: endMs, endMs: word.startMs, type: 'spacing', probability: null }
    if (found >= 0) place = found + wellFormed.text.length
    endMs = word.endMs
    return [...(between === '' ? [] : [space]), { ...wellFormed, type: 'word' as const }]
  })
}
