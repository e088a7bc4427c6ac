/**
 * The port `Catalog` over the cards: which models there are, which of them this machine has, and which one `auto`
 * means.
 */
import type { Card, Task } from '../domain/card.ts'
import type { Catalog } from '../service/ports.ts'
import { runsPartlyOnCpu, wholeOnCard } from './weights.ts'

export class CardCatalog implements Catalog {
  readonly #cards: readonly Card[]
  readonly #hasFiles: (cardId: string) => boolean
  readonly #onCard: (task: Task) => boolean

  /**
   * @param hasFiles whether a model that is not built in lies complete on this machine; asked at every question
   * @param onCard whether models of this task run on a graphics card now; asked likewise
   */
  constructor(
    cards: readonly Card[],
    hasFiles: (cardId: string) => boolean,
    onCard: (task: Task) => boolean = () => false,
  ) {
    this.#cards = cards
    this.#hasFiles = hasFiles
    this.#onCard = onCard
  }

  cards(): readonly Card[] {
    return this.#cards
  }

  isInstalled(cardId: string): boolean {
    const card = this.#cards.find((known) => known.id === cardId)
    return card !== undefined && (card.builtIn || this.#hasFiles(card.id))
  }

  best(task: Task): Card | null {
    const usable = this.#cards.filter((card) => card.task === task && this.isInstalled(card.id))
    const best = usable.reduce<Card | null>(
      (best, card) => (best === null || card.preference > best.preference ? card : best),
      null,
    )
    if (best === null || !runsPartlyOnCpu(best) || !this.#onCard(task)) return best
    return wholeOnCard(usable, best)[0] ?? best
  }
}
