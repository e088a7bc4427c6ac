/**
 * Several voices as one: "bella+sky", "bella(2)+sky". Mixing takes the weighted mean of the voices; this file does not
 * know which voice a name means.
 */
export interface MixturePart {
  voice: string
  /** Above 0; only its share of the sum matters. */
  weight: number
}

export type Mixture = readonly MixturePart[]

const mostMixed = 8
const largestWeight = 1000

/** The notations of other programs: "bella:0.5", "bella*0.5", "0.5*bella". */
const foreignPattern = /^(?:(.+?)\s*[:*=]\s*(\d+(?:\.\d+)?)|(\d+(?:\.\d+)?)\s*\*\s*(.+))$/
/** A voice in a mixture, perhaps with its weight in brackets at the end. */
const partPattern = /^(.*?)\s*(?:\(\s*(\d{1,4}(?:\.\d{1,4})?)\s*\))?$/

/**
 * @param text as a client or `mixtureId` wrote it
 * @returns null if it is a name rather than a mixture; `fault` in words for the client if the mixture is invalid
 */
export function parseMixture(text: string): { parts: Mixture } | { fault: string } | null {
  if (!text.includes('+')) return null
  const parts = text.split('+').map((part) => {
    const [, voice, weight] = partPattern.exec(part.trim()) as RegExpExecArray
    return { voice: voice as string, weight: weight === undefined ? 1 : Number(weight) }
  })
  if (parts.some(({ voice }) => voice === '')) return null
  const rewritten = parts.map(inBrackets).join('+')
  if (rewritten !== parts.map(written).join('+')) {
    return { fault: `Put the weights of a mixture in brackets. Did you mean '${rewritten}'?` }
  }
  if (parts.length > mostMixed) return { fault: `At most ${mostMixed} voices can be mixed.` }
  if (parts.some(({ weight }) => !(weight > 0 && weight <= largestWeight))) {
    return { fault: `Each weight of a mixture is a number above 0, at most ${largestWeight}.` }
  }
  return { parts }
}

const written = ({ voice, weight }: MixturePart): string => (weight === 1 ? voice : `${voice}(${weight})`)

function inBrackets(part: MixturePart): string {
  const [, voice, weight, first, second] = foreignPattern.exec(part.voice) ?? []
  if (voice !== undefined) return `${voice}(${weight})`
  return second === undefined ? written(part) : `${second}(${first})`
}

/** One way to write each mixture: voices that are named twice appear once, weights only where they differ. */
export function mixtureId(parts: Mixture): string {
  const weights = new Map<string, number>()
  for (const { voice, weight } of parts) weights.set(voice, (weights.get(voice) ?? 0) + weight)
  const first = weights.values().next().value
  const alike = [...weights.values()].every((weight) => weight === first)
  return [...weights].map(([voice, weight]) => (alike ? voice : `${voice}(${rounded(weight)})`)).join('+')
}

/** Sums of decimal fractions are inexact: 0.1 + 0.2 is 0.30000000000000004. */
const rounded = (weight: number): number => Math.round(weight * 1e4) / 1e4
