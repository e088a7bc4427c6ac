/** Places on a globe: "40°26′46″N", "40.4461° N". */
import { decimal } from './numbers.ts'
import { match, type Said } from './rule.ts'

const pattern =
  /(\d{1,3}(?:\.\d{1,10})?)° ?(?:(\d{1,2}(?:\.\d{1,6})?)' ?)?(?:(\d{1,2}(?:\.\d{1,6})?)" ?)?([NSEW])?(?![A-Za-z0-9])/y
const sides: Readonly<Record<string, string>> = { N: 'North', S: 'South', E: 'East', W: 'West' }

export function coordinateAt(text: string, at: number): Said | null {
  const found = match(pattern, text, at)
  if (found === null || (found[2] === undefined && found[4] === undefined)) return null
  const parts = [found[1], found[2], found[3]].flatMap((digits, part) =>
    digits === undefined ? [] : [amount(digits, part)],
  )
  const side = found[4] === undefined ? [] : [sides[found[4]] as string]
  return { to: at + found[0].trimEnd().length, words: [...parts, ...side].join(' ') }
}

const amount = (digits: string, part: number): string =>
  `${decimal(digits)} ${['degree', 'minute', 'second'][part]}${Number(digits) === 1 ? '' : 's'}`
