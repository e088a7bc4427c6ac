/** A model by what somebody typed. */
import type { Card } from '../../domain/card.ts'
import { Failure } from '../terminal/terminal.ts'

/** @throws Failure when no model is called so */
export function findCard(cards: readonly Card[], id: string): Card {
  const card = cards.find((known) => known.id === id)
  if (card !== undefined) return card
  const similar = cards.filter((known) => known.id.includes(id.toLowerCase())).map((known) => known.id)
  const hint = similar.length === 0 ? 'The models: myna models list' : `Did you mean ${similar.join(', ')}?`
  throw new Failure(`There is no model '${id}'. ${hint}`, 'model_not_found')
}
