/**
 * The port `Catalog` over the cards: which models there are, which of them this machine has, and which one `auto`
 * means.
 */
import type { Card, Task } from '../domain/card.ts'
import type { ModelTrouble } from '../domain/model-trouble.ts'
import type { Catalog } from '../service/ports.ts'

export class CardCatalog implements Catalog {
  readonly #cards: () => readonly Card[]
  #byId: { of: readonly Card[]; cards: ReadonlyMap<string, Card> } | null = null
  readonly #hasFiles: (card: Card) => boolean
  readonly #onCard: (task: Task) => boolean
  readonly #broken: () => readonly ModelTrouble[]

  /**
   * @param cards every model that may be here; called each time, because users may bring their own. One array as long
   * as they are the same
   * @param hasFiles whether a model that is not built in is complete on this machine; called each time
   * @param onCard whether models of this task run on a graphics card now; called each time
   * @param broken as the port says; called each time
   */
  constructor(
    cards: readonly Card[] | (() => readonly Card[]),
    hasFiles: (card: Card) => boolean,
    onCard: (task: Task) => boolean = () => false,
    broken: () => readonly ModelTrouble[] = () => [],
  ) {
    this.#cards = typeof cards === 'function' ? cards : () => cards
    this.#hasFiles = hasFiles
    this.#onCard = onCard
    this.#broken = broken
  }

  cards(): readonly Card[] {
    return this.#cards()
  }

  isInstalled(cardId: string): boolean {
    const card = this.#cardsById().get(cardId)
    return card !== undefined && this.#isHere(card)
  }

  #isHere(card: Card): boolean {
    return card.builtIn || this.#hasFiles(card)
  }

  /** Asked many times at every request. */
  #cardsById(): ReadonlyMap<string, Card> {
    const of = this.#cards()
    if (this.#byId?.of !== of) this.#byId = { of, cards: new Map(of.map((card) => [card.id, card])) }
    return this.#byId.cards
  }

  ranked(task: Task): Card[] {
    const usable = this.#cards()
      .filter((card) => card.task === task && this.#isHere(card))
      .toSorted((one, other) => other.preference - one.preference)
    if (!this.#onCard(task)) return usable
    const better = (card: Card) => (runsPartlyOnCpu(card) ? wholeOnCard(usable, card) : [])
    return [...new Set(usable.flatMap((card) => [...better(card), card]))]
  }

  best(task: Task): Card | null {
    return this.ranked(task)[0] ?? null
  }

  broken(): readonly ModelTrouble[] {
    return this.#broken()
  }
}

// Weights and graphics cards. ONNX Runtime's CUDA provider has no kernels for most operators of quantised graphs:
// those parts of a model run on the CPU, and its tensors cross the bus twice for each of them.
export const runsPartlyOnCpu = ({ weights }: Card): boolean => weights === 'int8'

/** The models of the same family that a graphics card can compute as a whole, the preferred one first. */
export const wholeOnCard = (cards: readonly Card[], { family, task }: Card): Card[] =>
  cards
    .filter((other) => other.family === family && other.task === task && !runsPartlyOnCpu(other))
    .sort((one, other) => other.preference - one.preference)
