/**
 * The symbols of Kokoro voices and their numbers in the graph: 114 of 178 are in use, each one code point. 0 is put at
 * both ends. Source: `vocab` of the model's config.json (hexgrad/Kokoro-82M).
 */
const runs: readonly (readonly [number, string])[] = [
  [1, ';:,.!?'],
  [9, '—…"()“” \u0303ʣʥʦʨᵝ\uab67AI'],
  [31, 'O'],
  [33, 'Q'],
  [35, 'ST'],
  [39, 'W'],
  [41, 'Yᵊabcdef'],
  [50, 'hijklmnopqrstuvwxyzɑɐɒæ'],
  [75, 'βɔɕç'],
  [80, 'ɖðʤə'],
  [85, 'ɚɛɜ'],
  [90, 'ɟ'],
  [92, 'ɡ'],
  [99, 'ɥ'],
  [101, 'ɨɪʝ'],
  [110, 'ɯɰŋɳɲɴø'],
  [118, 'ɸθœ'],
  [123, 'ɹ'],
  [125, 'ɾɻ'],
  [128, 'ʁɽʂʃʈʧ'],
  [135, 'ʊʋ'],
  [138, 'ʌɣɤ'],
  [142, 'χʎ'],
  [147, 'ʒʔ'],
  [156, 'ˈˌː'],
  [162, 'ʰ'],
  [164, 'ʲ'],
  [169, '↓'],
  [171, '→↗↘'],
  [177, 'ᵻ'],
]

export const symbolIds: ReadonlyMap<string, number> = new Map(
  runs.flatMap(([first, symbols]) => Array.from(symbols, (symbol, index): [string, number] => [symbol, first + index])),
)

const pad = 0n

/**
 * Their numbers, with the pad at both ends.
 * @param most symbols at once @throws RangeError if there are none or too many, or one has no number
 */
export function symbolNumbers(symbols: string, most: number): BigInt64Array {
  const numbers = Array.from(symbols, (symbol) => symbolIds.get(symbol))
  if (numbers.length === 0 || numbers.length > most) throw new RangeError(`${numbers.length} symbols at once`)
  const ids = numbers.map((id, at) => {
    if (id === undefined) throw new RangeError(`${JSON.stringify(Array.from(symbols)[at])} has no number`)
    return BigInt(id)
  })
  return BigInt64Array.from([pad, ...ids, pad])
}
