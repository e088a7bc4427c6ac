/** Pauses that a text asks for by their length: `[pause:1.5s]` and SSML's `<break time="2s"/>`. */

export interface Stretch {
  /** The spoken words, possibly none. */
  text: string
  /** The silence behind it. */
  pauseSeconds: number
  /** Code points of the input up to the end of the pause. */
  coveredChars: number
}

/** A longer pause is cut to this, so that a short text cannot order hours of silence. */
export const maxPauseSeconds = 10

const length = String.raw`(\d{1,4}(?:\.\d{1,3})?) ?(ms|s)`
const inBrackets = String.raw`\[pause:? ?${length}\]`
const asTag = String.raw`<break\s{1,10}time\s?=\s?["']${length}["']\s{0,10}/?>(?:</break>)?`
const pausePattern = new RegExp(`${inBrackets}|${asTag}`, 'gi')

/** The text between the pauses, in order. Without a pause it is one stretch. */
export function stretches(input: string): Stretch[] {
  const found: Stretch[] = []
  let from = 0
  let covered = 0
  const add = (text: string, to: number, pauseSeconds: number) => {
    covered += Array.from(input.slice(from, to)).length
    found.push({ text, pauseSeconds, coveredChars: covered })
    from = to
  }
  for (const match of input.matchAll(pausePattern)) {
    const amount = Number(match[1] ?? match[3]) / ((match[2] ?? match[4])?.toLowerCase() === 'ms' ? 1000 : 1)
    add(input.slice(from, match.index), match.index + match[0].length, Math.min(amount, maxPauseSeconds))
  }
  if (from < input.length || found.length === 0) add(input.slice(from), input.length, 0)
  return found
}
