/**
 * Decides what is spoken at once. A graph gives no sound before it has a whole chunk. Kokoro speaks best with 100 to
 * 200 symbols, has room for 510, rushes above 400 and is unsteady below 20. So sentences are joined until there are
 * enough of them, a long one is cut where the reference cuts it, and the first chunk is short, because the client
 * waits for its sound. No symbol is ever left out.
 */

/** The text between two spaces. */
export interface Unit {
  symbols: string
  /** Code points of the input that are covered once it has been spoken. */
  end: number
  /** What ends with it, besides itself. */
  ends: 'word' | 'sentence' | 'paragraph'
  /** A phrase begins with it, or a clause: a speaker may breathe before it. */
  opens?: 'phrase' | 'clause'
  /** It leads to the next one, as "the" and "of" do: no speaker breathes behind it. */
  leads?: boolean
}

/** What a unit became in its chunk. */
export interface Span {
  /** Its symbols, counted in the chunk; the last one not among them. */
  from: number
  to: number
  /** As the unit's. */
  end: number
}

export interface Chunk {
  symbols: string
  /**
   * The last symbols before it and the first behind it, where it was cut within a sentence; else ''. A graph that is
   * given them, too, speaks across the cut.
   */
  before: string
  after: string
  /** Of each unit, in order. */
  spans: readonly Span[]
  /** Never decreases; the last chunk's is the last unit's. */
  coveredChars: number
  /** 'word': it was cut only because of its length, so there is no pause. */
  boundary: 'word' | 'clause' | 'sentence' | 'paragraph'
  /** No other follows. */
  isLast: boolean
}

export interface ChunkLimits {
  /** Longest chunk, in symbols. */
  most: number
  /** Sentences are joined until they have this many symbols. */
  enough: number
  /** A first chunk of this length ends at its last pause; Infinity: it is like the others. */
  first: number
  /** And one of this length at any word. */
  firstMost: number
}

/** 120 symbols are some 8 s of speech. While they are computed, the engine is deaf and other streams wait. */
export const usualLimits: ChunkLimits = { most: 300, enough: 120, first: 80, firstMost: 140 }

/**
 * Symbols of the neighbours that come with a chunk, at most: a word or two. With these the lengths of what is next to
 * the cut differ from those in the whole sentence by 70 ms in all, without neighbours by 200 ms; more gain nothing.
 */
export const neighbourSymbols = { before: 8, after: 12 } as const

/** No chunk is shorter if that can be helped. */
const least = 20
/** A paragraph that is shorter is spoken together with the next. */
const leastParagraph = 10

export async function* chunks(
  units: AsyncIterable<Unit> | Iterable<Unit>,
  limits: ChunkLimits = usualLimits,
): AsyncGenerator<Chunk> {
  const packer = new Packer(limits)
  for await (const unit of units) {
    for (const piece of pieces(unit, limits.most)) yield* packer.take(piece)
  }
  yield* packer.finish()
}

/** A unit longer than a chunk, in parts. */
function pieces(unit: Unit, most: number): Unit[] {
  const symbols = Array.from(unit.symbols)
  if (symbols.length <= most) return [unit]
  const parts = Array.from({ length: Math.ceil(symbols.length / most) }, (_, at) =>
    symbols.slice(at * most, (at + 1) * most).join(''),
  )
  return parts.map((part, at) => ({ ...unit, symbols: part, ends: at === parts.length - 1 ? unit.ends : 'word' }))
}

interface Held {
  units: readonly Unit[]
  boundary: Chunk['boundary']
  before: string
  after: string
}

class Packer {
  #units: Unit[] = []
  #length = 0
  #isFirst = true
  /** What comes right before `#units`. */
  #before = ''
  /** The last chunk made: what follows may be too little for one of its own. */
  #held: Held | null = null

  constructor(private readonly limits: ChunkLimits) {}

  *take(unit: Unit): Generator<Chunk> {
    const length = Array.from(unit.symbols).length
    while (this.#units.length > 0 && this.#length + 1 + length > this.limits.most) {
      yield* this.#cut(waterfall(this.#units, unit, this.#length + 1 + length, this.limits.most), unit)
    }
    this.#units.push(unit)
    this.#length += length + (this.#units.length > 1 ? 1 : 0)
    if (unit.ends === 'paragraph' && this.#length >= leastParagraph) yield* this.#cut(this.#units.length)
    else if (unit.ends !== 'word' && this.#length >= this.#enough) yield* this.#cut(this.#units.length)
    else if (this.#isFirst && this.#length >= this.limits.first) yield* this.#cutFirst()
  }

  /** This many symbols that end a sentence are a chunk. */
  get #enough(): number {
    return this.#isFirst && this.limits.first < Infinity ? least : this.limits.enough
  }

  *finish(): Generator<Chunk> {
    const held = this.#held
    const short = this.#length < least && held !== null && held.boundary !== 'paragraph'
    const together = short && lengthOf(held.units) + 1 + this.#length <= this.limits.most
    if (this.#units.length > 0 && together) {
      this.#units = [...held.units, ...this.#units]
      this.#before = held.before
      this.#held = null
    }
    if (this.#units.length > 0) yield* this.#cut(this.#units.length)
    if (this.#held !== null) yield toChunk(this.#held, true)
  }

  /** The first `count` units are a chunk; the one before it leaves. @param next the unit behind all of them */
  *#cut(count: number, next?: Unit): Generator<Chunk> {
    if (this.#held !== null) yield toChunk(this.#held, false)
    const units = this.#units.slice(0, count)
    const boundary = boundaryBehind(units.at(-1) as Unit)
    this.#units = this.#units.slice(count)
    const rest = next === undefined ? this.#units : [...this.#units, next]
    const isWithin = boundary === 'word' || boundary === 'clause'
    const after = isWithin ? beginningOf(rest) : ''
    this.#held = { units, boundary, before: this.#before, after }
    this.#before = isWithin ? endOf(units) : ''
    this.#length = lengthOf(this.#units)
    this.#isFirst = false
  }

  /** At the last pause that leaves enough before it, otherwise only once it is too long, where a phrase begins. */
  *#cutFirst(): Generator<Chunk> {
    let length = -1
    let count = 0
    // What follows the cut is known, for it is spoken otherwise than an end.
    for (const [index, { symbols }] of this.#units.slice(0, -1).entries()) {
      length += 1 + Array.from(symbols).length
      if (length >= least && length <= this.limits.first && pausePattern.test(symbols)) count = index + 1
    }
    const { firstMost } = this.limits
    if (count > 0) yield* this.#cut(count)
    else if (lengthOf(this.#units.slice(0, -1)) >= firstMost) yield* this.#cut(betweenWords(this.#units, firstMost / 2))
  }
}

const pausePattern = /[;:,.!?—…)]["”)]*$/
/** The kinds of marks behind which a chunk is cut, the best first. */
const tiers = [/[!.?…][)”]?$/, /[:;][)”]?$/, /[,—][)”]?$/]

/**
 * How many units come before the cut, when the next one would be too much: to the last mark of the best kind, if the
 * rest fits then.
 * @param total length with the next unit
 */
function waterfall(units: readonly Unit[], next: Unit, total: number, most: number): number {
  for (const tier of tiers) {
    const count = units.findLastIndex(({ symbols }) => tier.test(symbols)) + 1
    if (count > 0 && total - lengthOf(units.slice(0, count)) <= most) return count
  }
  return betweenWords([...units, next], most / 2)
}

/**
 * Where a cut is heard least, the last one of the best: before a clause, a phrase, or any word, but not behind one that
 * leads to the next.
 * @param least symbols before it @returns how many units come before it; the last one never does
 */
function betweenWords(units: readonly Unit[], least: number): number {
  let best = { count: units.length - 1, gap: -1 }
  for (let count = 1, length = 0; count < units.length; count++) {
    const before = units[count - 1] as Unit
    length += Array.from(before.symbols).length + (count > 1 ? 1 : 0)
    const gap = before.leads === true ? 0 : 1 + openings.indexOf((units[count] as Unit).opens)
    if (length >= least && gap >= best.gap) best = { count, gap }
  }
  return best.count
}

const openings: readonly Unit['opens'][] = [undefined, 'phrase', 'clause']

const beginningOf = (units: readonly Unit[]): string =>
  Array.from(units.map(({ symbols }) => symbols).join(' '))
    .slice(0, neighbourSymbols.after)
    .join('')
    .trimEnd()

const endOf = (units: readonly Unit[]): string =>
  Array.from(units.map(({ symbols }) => symbols).join(' '))
    .slice(-neighbourSymbols.before)
    .join('')
    .trimStart()

const lengthOf = (units: readonly Unit[]): number =>
  units.reduce((sum, { symbols }) => sum + Array.from(symbols).length, Math.max(0, units.length - 1))

function boundaryBehind({ symbols, ends }: Unit): Chunk['boundary'] {
  if (ends !== 'word') return ends
  return pausePattern.test(symbols) ? 'clause' : 'word'
}

const toChunk = ({ units, boundary, before, after }: Held, isLast: boolean): Chunk => ({
  symbols: units.map(({ symbols }) => symbols).join(' '),
  before,
  after,
  spans: spansOf(units),
  coveredChars: (units.at(-1) as Unit).end,
  boundary,
  isLast,
})

function spansOf(units: readonly Unit[]): Span[] {
  let at = 0
  return units.map(({ symbols, end }) => {
    const from = at
    const to = from + Array.from(symbols).length
    at = to + 1
    return { from, to, end }
  })
}
