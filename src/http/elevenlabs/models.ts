/** `GET /v1/models` in ElevenLabs' form: a bare array. Its SDKs refuse OpenAI's envelope. */
import type { Card } from '../../domain/card.ts'
import type { Endpoint } from '../endpoint.ts'
import { type Exchange, json } from '../exchange.ts'
import type { ModelsParts } from '../models.ts'
import { listedNames } from './model-names.ts'
import { speechModel } from './records.ts'

export function sharedModelEndpoints({ gate, catalog, limits }: ModelsParts): readonly Endpoint[] {
  const list = async (exchange: Exchange) => {
    await gate.enter(exchange, null, 'requests')
    const cards = catalog.ranked('text-to-speech')
    const [best] = cards
    const names = limits.listModelAliases ? listedNames : []
    const record = (id: string, card: Card) => speechModel.of({ id, card, maxInputChars: limits.maxInputChars })
    return json([
      ...cards.map((card) => record(card.id, card)),
      ...(best === undefined ? [] : names.map((name) => record(name, best))),
    ])
  }
  return [['GET /v1/models', null, list]]
}
