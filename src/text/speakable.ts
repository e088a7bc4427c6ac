/** Whether a text contains anything to speak, checked before a request is charged. */
import { chunks } from './chunks.ts'
import { emptyLexicon } from './lexicon.ts'

/**
 * For a voice with Latin letters: true if and only if `chunks` yields at least one chunk, whatever the lexicon. Stops
 * at the first speakable piece.
 * @param scripts Unicode scripts that the voice has letters for, as `\p{Script=...}` names them. `chunks` makes English
 * in Latin letters; for another script one letter of it anywhere is enough.
 * @throws SyntaxError if a script has no such name
 */
export function speakable(input: string, scripts: readonly string[]): boolean {
  const others = scripts.filter((script) => script !== 'Latin').map((script) => `\\p{Script=${script}}`)
  if (others.length > 0 && new RegExp(`[${others.join('')}]`, 'u').test(input)) return true
  return scripts.includes('Latin') && chunks(input, shortest).next().done === false
}

const shortest = { maxChars: 64, firstMaxWords: 1, lexicon: emptyLexicon }
