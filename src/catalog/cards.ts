/**
 * Every card of this program. The imports are static so that the bundler puts the cards into the executable; a test
 * compares the list with the folder `models/`.
 */
import flite from '../../models/flite.json' with { type: 'json' }
import type { Card } from '../domain/card.ts'
import { CardError, readCard } from './check.ts'

/**
 * Cards read from parsed files, by file name.
 * @throws CardError naming file and field, also where two cards claim one id or one voice
 */
export function readCards(files: Readonly<Record<string, unknown>>): readonly Card[] {
  const owners = new Map<string, string>()
  const claim = (id: string, file: string, field: string) => {
    const other = owners.get(`${field} ${id}`)
    if (other !== undefined) throw new CardError(`${file}: ${field}: ${JSON.stringify(id)} is taken by ${other}`)
    owners.set(`${field} ${id}`, file)
  }
  return Object.entries(files).map(([file, json]) => {
    const card = readCard(file, json)
    claim(card.id, file, 'id')
    for (const voice of card.voices) claim(voice.id, file, 'voices.id')
    return card
  })
}

export const cards: readonly Card[] = readCards({ 'flite.json': flite })
