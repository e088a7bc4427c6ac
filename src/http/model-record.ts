/** A model as the API shows it: OpenAI's record, with more fields (docs/api.md 4.1). */
import type { Card } from '../domain/card.ts'

/** @param id by which it was asked for: its own or an alias */
export const modelRecord = (id: string, card: Card, { maxInputChars }: { maxInputChars: number }) => ({
  id,
  object: 'model',
  created: card.createdAt,
  owned_by: 'myna',
  shutdown_date: null,
  task: card.task,
  root: card.id,
  name: card.name,
  languages: card.languages,
  sample_rate: card.sampleRateHz,
  verified: card.like === undefined,
  ...(card.task === 'text-to-speech' ? { max_input_chars: maxInputChars } : {}),
})
