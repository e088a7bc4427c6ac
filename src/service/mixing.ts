/**
 * From "bella(2)+sky" to one model and the mixture in its own ids. All voices of a mixture are presets of one model
 * that can mix; anything else is an error that says what cannot be mixed, and nothing is left out in silence.
 */
import type { Card } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { type Mixture, mixtureId } from '../domain/mixture.ts'
import type { Found } from './voice-names.ts'

export interface Mixed {
  card: Card
  /** As `mixtureId` writes it; a plain id when all parts are one voice. */
  voiceId: string
}

/**
 * @param cards the models that may speak, the preferred first
 * @param find what a name means for some of them
 * @param missing for a name that means nothing to any
 * @throws MynaError `unsupported_value`, or what `missing` makes
 */
export async function mixVoices(
  mixture: Mixture,
  cards: readonly Card[],
  find: (name: string, cards: readonly Card[]) => Promise<Found | null>,
  missing: (name: string) => Promise<MynaError>,
): Promise<Mixed> {
  const models: string[] = []
  for (const { voice } of mixture) {
    const found = await find(voice, cards)
    if (found === null) throw await missing(voice)
    if ('clone' in found) throw refusal(`The voice '${voice}' is a clone, and clones cannot be mixed.`)
    models.push(`'${voice}' (${found.card.id})`)
  }
  const able = cards.filter(({ mixing }) => mixing)
  for (const card of able) {
    const presets = await Promise.all(mixture.map(({ voice }) => find(voice, [card])))
    const ids = presets.map((found) => (found !== null && 'preset' in found ? found.preset.id : null))
    if (!ids.every((id) => id !== null)) continue
    return { card, voiceId: mixtureId(mixture.map(({ weight }, at) => ({ voice: ids[at] as string, weight }))) }
  }
  if (able.length === 0) throw refusal(`Voices of the model '${cards[0]?.id ?? ''}' cannot be mixed.`)
  throw refusal(`These are not voices of one model that can mix them: ${models.join(', ')}.`)
}

export const refusal = (message: string): MynaError => new MynaError('unsupported_value', message, { param: 'voice' })
