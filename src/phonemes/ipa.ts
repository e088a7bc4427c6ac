/**
 * Phonemes as people write them, into the symbols of Kokoro voices: ordinary IPA with its digraphs, or those symbols
 * themselves. What is neither is left out.
 */
import { symbolIds } from './symbols.ts'

const pairs: readonly (readonly [RegExp, string])[] = [
  [/t͡ʃ|tʃ/g, 'ʧ'],
  [/d͡ʒ|dʒ/g, 'ʤ'],
  [/eɪ/g, 'A'],
  [/aɪ/g, 'I'],
  [/oʊ|əʊ/g, 'O'],
  [/aʊ/g, 'W'],
  [/ɔɪ/g, 'Y'],
  [/ɝ/g, 'ɜɹ'],
  [/ɚ/g, 'əɹ'],
  [/ɫ/g, 'l'],
  [/ɾ/g, 'T'],
  [/g/g, 'ɡ'],
  [/r/g, 'ɹ'],
  [/'/g, 'ˈ'],
]
const vowels = 'AIOQWYaeiouæɑɐɒɔəɛɜɪʊʌᵻøœyɨɯɤ'
/** IPA puts marks before the syllable; here they are before its vowel. */
const marked = new RegExp(`([ˈˌ])([^${vowels}ˈˌ ]+)(?=[${vowels}])`, 'g')

/** @returns possibly empty */
export function fromIpa(written: string): string {
  // A possessive that was added behind the word's own phonemes.
  const owned = written.endsWith("'s")
  let text = (owned ? written.slice(0, -2) : written).normalize('NFC')
  for (const [pattern, symbol] of pairs) text = text.replace(pattern, symbol)
  text = text.replace(marked, '$2$1')
  const known = Array.from(text, (char) => (symbolIds.has(char) ? char : ''))
    .join('')
    .trim()
  if (!owned || known === '') return known
  return known + (/[ptkfθ]$/.test(known) ? 's' : /[szʃʒʧʤ]$/.test(known) ? 'ᵻz' : 'z')
}
