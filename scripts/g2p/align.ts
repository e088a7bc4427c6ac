/**
 * Which letter of a word speaks which of its phones: each letter speaks none, one or two of them. Found by expectation
 * maximisation over all words, without any built-in knowledge of English.
 */
import { codeOf, name, type Phone, phones } from '../../src/phonemes/phones.ts'

export interface Entry {
  /** Letters from a to z and apostrophes. */
  word: string
  phones: readonly Phone[]
}

/** What each letter speaks: "", "K" or "K S". */
export type Alignment = readonly string[]

const mostPhones = 2
const rounds = 6
const letters = "'abcdefghijklmnopqrstuvwxyz"
/** For a phone's code, and for "none". */
const width = phones.length + 1
/** Likelihood of a pair that no round has seen. */
const unseen = 1e-7

/** By `pairOf`. */
type Table = Float64Array

const emptyTable = (): Table => new Float64Array(letters.length * width * width)

interface Spoken {
  /** Positions in `letters`. */
  letters: readonly number[]
  codes: readonly number[]
}

/** @returns null for a word with more phones than its letters can speak */
export function align(entries: readonly Entry[]): (Alignment | null)[] {
  const words = entries.map(({ word, phones: spoken }) => ({
    letters: Array.from(word, (letter) => letters.indexOf(letter)),
    codes: spoken.map((phone) => codeOf(name(phone))),
  }))
  let likelihoods = emptyTable().fill(1)
  for (let round = 0; round < rounds; round++) {
    const weights = emptyTable()
    for (const word of words) count(word, likelihoods, weights)
    likelihoods = normalised(weights)
  }
  return words.map((word) => best(word, likelihoods))
}

/** The position in a table of a letter that speaks `length` phones from `from` on. */
function pairOf(letter: number, codes: readonly number[], from: number, length: number): number {
  const first = length > 0 ? codes[from]! + 1 : 0
  const second = length > 1 ? codes[from + 1]! + 1 : 0
  return (letter * width + first) * width + second
}

/** Adds each pair's expected count in the word: the forward and backward sums of all alignments. */
function count(word: Spoken, likelihoods: Table, weights: Table): void {
  const { codes } = word
  const size = word.letters.length
  const row = codes.length + 1
  const forward = new Float64Array((size + 1) * row)
  const backward = new Float64Array((size + 1) * row)
  forward[0] = 1
  backward[size * row + codes.length] = 1
  for (let at = 0; at < size; at++) {
    for (let from = 0; from < row; from++) {
      const before = forward[at * row + from]!
      for (let length = 0; before > 0 && length <= mostPhones && from + length < row; length++) {
        forward[(at + 1) * row + from + length]! +=
          before * likelihoods[pairOf(word.letters[at]!, codes, from, length)]!
      }
    }
  }
  const total = forward[size * row + codes.length]!
  if (total === 0) return
  for (let at = size - 1; at >= 0; at--) {
    for (let from = 0; from < row; from++) {
      for (let length = 0; length <= mostPhones && from + length < row; length++) {
        const pair = pairOf(word.letters[at]!, codes, from, length)
        const through = likelihoods[pair]! * backward[(at + 1) * row + from + length]!
        backward[at * row + from]! += through
        weights[pair]! += (forward[at * row + from]! * through) / total
      }
    }
  }
}

/** For each letter, the shares of what it speaks sum to 1. */
function normalised(weights: Table): Table {
  const size = width * width
  const shares = emptyTable()
  for (let letter = 0; letter < letters.length; letter++) {
    const own = weights.subarray(letter * size, (letter + 1) * size)
    const total = own.reduce((sum, weight) => sum + weight, 0)
    for (const [index, weight] of own.entries()) {
      shares[letter * size + index] = Math.max(unseen, total > 0 ? weight / total : 0)
    }
  }
  return shares
}

function best({ letters: written, codes }: Spoken, likelihoods: Table): Alignment | null {
  const row = codes.length + 1
  const score = new Float64Array((written.length + 1) * row).fill(-Infinity)
  const taken = new Uint8Array(score.length)
  score[0] = 0
  for (let at = 0; at < written.length; at++) {
    for (let from = 0; from < row; from++) {
      const before = score[at * row + from]!
      for (let length = 0; before > -Infinity && length <= mostPhones && from + length < row; length++) {
        const to = (at + 1) * row + from + length
        const reached = before + Math.log(likelihoods[pairOf(written[at]!, codes, from, length)]!)
        if (reached <= score[to]!) continue
        score[to] = reached
        taken[to] = length
      }
    }
  }
  if (score.at(-1) === -Infinity) return null
  const alignment: string[] = []
  for (let at = written.length, to = codes.length; at > 0; at--) {
    const length = taken[at * row + to]!
    alignment.unshift(
      codes
        .slice(to - length, to)
        .map((code) => name(phones[code]!))
        .join(' '),
    )
    to -= length
  }
  return alignment
}
