/** Every card of this program: one file of `models/` each. The executable carries the result (`build/bundle.ts`). */
import type { Card } from '../domain/card.ts'
import { cardFiles } from '../embedded/cards.ts'
import { CardError, readCard } from './check.ts'
import { resolveVariants } from './variants.ts'

/**
 * Cards read from parsed files, by file name.
 * @throws CardError naming file and field, also where two cards claim one id, or two families one voice
 */
export function readCards(files: Readonly<Record<string, unknown>>): readonly Card[] {
  const owners = new Map<string, { file: string; family: string }>()
  const claim = (id: string, file: string, field: string, family: string) => {
    const other = owners.get(`${field} ${id}`)
    if (other !== undefined && (field === 'id' || other.family !== family)) {
      throw new CardError(`${file}: ${field}: ${JSON.stringify(id)} is taken by ${other.file}`)
    }
    owners.set(`${field} ${id}`, { file, family })
  }
  return Object.entries(resolveVariants(files)).map(([file, json]) => {
    const card = readCard(file, json)
    claim(card.id, file, 'id', card.family)
    for (const voice of card.voices) claim(voice.id, file, 'voices.id', card.family)
    return card
  })
}

export const cards: readonly Card[] = readCards(cardFiles)
