/** Which full stops, question and exclamation marks end a sentence. Decimals and abbreviations never get here. */
import { isAlphanumeric } from './rule.ts'
import type { FineMark } from './signs.ts'

export interface Stop {
  kind: 'pause' | 'stop'
  mark: '.' | '?' | '!' | ','
  to: number
  /** Its trail of dots, for a voice that knows one. */
  symbol?: FineMark
}

/** @returns null when the mark at `at` is no stop but a sign: the dot of "node.js" or ".5" */
export function stopAt(text: string, at: number): Stop | null {
  let to = at
  while (to < text.length && '.!?'.includes(text[to] as string)) to++
  const run = to - at
  const marks = text.slice(at, Math.min(to, at + 64))
  const mark = marks.includes('?') ? '?' : marks.includes('!') ? '!' : '.'
  const closed = to
  while (to < text.length && '"\')]}'.includes(text[to] as string)) to++
  const next = text[to]
  if (isAlphanumeric(next) && to === closed && run === 1 && mark === '.') {
    const sentence = /[a-z)]/.test(text[at - 1] ?? '') && /[A-Z]/.test(next as string) && isAlphanumeric(text[at - 2])
    if (!sentence) return null
  }
  // Inside a path or before a comma ("./run", "Inc., which") it is no stop.
  if (mark === '.' && run === 1 && next !== undefined && '/\\-_=<>,;:@#%&+~'.includes(next)) return null
  let ahead = to
  while (text[ahead] === ' ' || text[ahead] === '"' || text[ahead] === '(') ahead++
  const goesOn = /[a-z]/.test(text[ahead] ?? '')
  // "Stop!" he said. And a trail of dots... that goes on.
  if (goesOn && mark !== '.') return { kind: 'pause', mark, to }
  if (goesOn && run > 1) return { kind: 'pause', mark: ',', to, symbol: '…' }
  return run > 1 && mark === '.' ? { kind: 'stop', mark, to, symbol: '…' } : { kind: 'stop', mark, to }
}
