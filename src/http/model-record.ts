/** A model as the API shows it: OpenAI's record, with more fields (docs/api.md 4.1). */
import { type Card, translates } from '../domain/card.ts'
import * as is from './openapi/shapes.ts'
import { from, maybe } from './openapi/shapes.ts'

export interface NamedModel {
  /** By which it was asked for: its own or an alias. */
  id: string
  card: Card
  maxInputChars: number
}

export const modelAnswer = is.answer<NamedModel>('OpenAI’s model record, with more fields.', {
  id: from(is.text('hibari'), 'id'),
  object: is.constant('model'),
  created: is.unixS(1646092800, ({ card }) => 1000 * card.createdAt),
  owned_by: from(is.text('myna'), () => 'myna'),
  shutdown_date: is.nothing,
  task: from(is.oneOf(['text-to-speech', 'automatic-speech-recognition'], 'text-to-speech'), ({ card }) => card.task),
  root: from(
    is.text('hibari', 'The model behind this id: itself, or the one an alias stands for.'),
    ({ card }) => card.id,
  ),
  name: from(is.text('hibari'), ({ card }) => card.name),
  languages: from(is.list(is.text('en'), 'BCP-47.'), ({ card }) => card.languages),
  sample_rate: from(is.whole(24000, 'Hertz.'), ({ card }) => card.sampleRateHz),
  verified: from(
    is.flag(true, 'False: the operator’s own files, such as a fine-tune, which no hash vouches for.'),
    ({ card }) => card.like === undefined,
  ),
  max_input_chars: maybe(
    is.whole(4096, 'Speech models only: the longest input, in code points.'),
    ({ card, maxInputChars }) => (card.task === 'text-to-speech' ? maxInputChars : undefined),
  ),
  translates: maybe(is.flag(false, 'Transcription models only: whether it translates into English.'), ({ card }) =>
    card.task === 'automatic-speech-recognition' ? translates(card) : undefined,
  ),
})

export const modelRecord = (id: string, card: Card, { maxInputChars }: { maxInputChars: number }) =>
  modelAnswer.of({ id, card, maxInputChars })

export const deletedModel = is.answer<{ id: string; freedBytes: number }>('', {
  id: from(is.text('whisper-base'), 'id'),
  object: is.constant('model'),
  deleted: from(is.flag(true), () => true),
  freed_bytes: from(is.count(77_000_000, 'Files that other models share stay.'), 'freedBytes'),
})
