/**
 * An n-gram model with modified Kneser-Ney smoothing. An n-gram is pruned if it adds little to its shorter context
 * (Stolcke 1998). A sequence is a string, each of its UTF-16 units a symbol; `start` and `end` surround it. Sources:
 * Chen and Goodman 1998, section 3; Stolcke, "Entropy-based pruning of backoff language models".
 */
export const start = '\u0001'
export const end = '\u0002'

export interface Model {
  order: number
  /** ln P(last symbol | the symbols before it), by n-gram; backed off if the n-gram is missing. */
  logs: ReadonlyMap<string, number>
  /** ln of the weight of the shorter context, by context; 0 if the context is missing. */
  backoffs: ReadonlyMap<string, number>
}

type Counts = Map<string, number>

/** @param threshold relative entropy below which an n-gram is dropped; 0: keep all */
export function train(sequences: readonly string[], order: number, threshold: number): Model {
  const raw = rawCounts(sequences, order)
  const logs = new Map<string, number>()
  const backoffs = new Map<string, number>()
  const symbols = [...raw[1]!.keys()].filter((symbol) => symbol !== start)
  let lower: Map<string, number> = new Map(symbols.map((symbol) => [symbol, 1 / symbols.length]))
  for (let n = 1; n <= order; n++) {
    lower = smooth(n === order ? raw[n]! : continuations(raw, n), n, lower, backoffs)
    for (const [ngram, probability] of lower) logs.set(ngram, Math.log(probability))
  }
  return threshold > 0 ? prune({ order, logs, backoffs }, raw, threshold) : { order, logs, backoffs }
}

function rawCounts(sequences: readonly string[], order: number): Counts[] {
  const counts: Counts[] = Array.from({ length: order + 1 }, () => new Map())
  for (const sequence of sequences) {
    const whole = start + sequence + end
    for (let at = 0; at < whole.length; at++) {
      for (let n = 1; n <= order && at + n <= whole.length; n++) add(counts[n]!, whole.slice(at, at + n))
    }
  }
  return counts
}

const add = (counts: Counts, ngram: string): void => void counts.set(ngram, (counts.get(ngram) ?? 0) + 1)

/** How many different symbols precede an n-gram; for an n-gram that begins a sequence, its count. */
function continuations(raw: readonly Counts[], n: number): Counts {
  const counts: Counts = new Map()
  for (const [ngram, count] of raw[n]!) if (ngram[0] === start) counts.set(ngram, count)
  for (const ngram of raw[n + 1]!.keys()) add(counts, ngram.slice(1))
  return counts
}

/** @param lower probabilities of the n-grams one symbol shorter @returns those of these n-grams */
function smooth(counts: Counts, n: number, lower: ReadonlyMap<string, number>, backoffs: Counts): Map<string, number> {
  const discount = discounts(counts)
  const totals = new Map<string, { sum: number; held: number }>()
  for (const [ngram, count] of counts) {
    if (ngram === start) continue
    const context = ngram.slice(0, -1)
    const total = totals.get(context) ?? { sum: 0, held: 0 }
    total.sum += count
    total.held += discount(count)
    totals.set(context, total)
  }
  const probabilities = new Map<string, number>()
  for (const [ngram, count] of counts) {
    if (ngram === start) continue
    const { sum, held } = totals.get(ngram.slice(0, -1))!
    const shorter = n === 1 ? lower.get(ngram)! : lower.get(ngram.slice(1))!
    probabilities.set(ngram, (count - discount(count) + held * shorter) / sum)
  }
  if (n > 1) for (const [context, { sum, held }] of totals) backoffs.set(context, Math.log(held / sum))
  return probabilities
}

function discounts(counts: Counts): (count: number) => number {
  const of = [0, 0, 0, 0, 0]
  for (const count of counts.values()) if (count <= 4) of[count]!++
  const [, n1, n2, n3, n4] = of as [number, number, number, number, number]
  const y = n1 / (n1 + 2 * n2 || 1)
  const at = [0, 1 - (2 * y * n2) / n1, 2 - (3 * y * n3) / n2, 3 - (4 * y * n4) / n3]
  const safe = at.map((value, index) => (Number.isFinite(value) && value > 0 ? Math.min(value, index) : index * 0.5))
  return (count) => safe[Math.min(count, 3)]!
}

/** From the longest to the shortest, so that an n-gram is only removed when no longer n-gram needs it as a context. */
function prune(model: Model, raw: readonly Counts[], threshold: number): Model {
  const { order } = model
  const logs = new Map(model.logs)
  const backoffs = new Map(model.backoffs)
  const total = [...raw[1]!.values()].reduce((sum, count) => sum + count, 0)
  for (let n = order; n > 1; n--) {
    const contexts = new Set<string>()
    if (n < order) for (const ngram of logs.keys()) if (ngram.length === n + 1) contexts.add(ngram.slice(0, -1))
    for (const [ngram, log] of logs) {
      if (ngram.length !== n || contexts.has(ngram)) continue
      const context = ngram.slice(0, -1)
      const without = (backoffs.get(context) ?? 0) + logOf({ order, logs, backoffs }, ngram.slice(1))
      const seen = (raw[n - 1]!.get(context) ?? 0) / total
      if (seen * Math.exp(log) * (log - without) < threshold) logs.delete(ngram)
    }
    weigh(n, logs, backoffs, order)
  }
  return { order, logs, backoffs }
}

/** The weights that make each context's probabilities sum to 1 again. */
function weigh(n: number, logs: ReadonlyMap<string, number>, backoffs: Counts, order: number): void {
  const kept = new Map<string, { here: number; shorter: number }>()
  for (const [ngram, log] of logs) {
    if (ngram.length !== n) continue
    const context = ngram.slice(0, -1)
    const sums = kept.get(context) ?? { here: 0, shorter: 0 }
    sums.here += Math.exp(log)
    sums.shorter += Math.exp(logOf({ order, logs, backoffs }, ngram.slice(1)))
    kept.set(context, sums)
  }
  for (const context of backoffs.keys()) {
    if (context.length !== n - 1) continue
    const sums = kept.get(context)
    if (sums === undefined) backoffs.delete(context)
    else backoffs.set(context, Math.log(Math.max(1e-6, 1 - sums.here) / Math.max(1e-6, 1 - sums.shorter)))
  }
}

/** ln P(last symbol | the symbols before it). */
function logOf({ logs, backoffs }: Model, ngram: string): number {
  let weight = 0
  for (let from = 0; from < ngram.length; from++) {
    const rest = ngram.slice(from)
    const log = logs.get(rest)
    if (log !== undefined) return weight + log
    weight += backoffs.get(rest.slice(0, -1)) ?? 0
  }
  return -30
}
