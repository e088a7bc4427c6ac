/** Checks whether a text contains anything to speak, before a request is charged. */
import { emptyLexicon } from './lexicon.ts'
import { englishWords } from './spoken.ts'

/**
 * For a voice with Latin letters: whether there is a word in it, whatever the lexicon. Stops at the first one, and does
 * not analyse a text that begins with a plain word.
 * @param scripts Unicode scripts that the voice has letters for, as `\p{Script=...}` names them. English words are in
 * Latin letters; for another script one letter of it anywhere is enough.
 * @throws SyntaxError if a script has no such name
 */
export function speakable(input: string, scripts: readonly string[]): boolean {
  const isLatin = scripts.includes('Latin')
  if (isLatin && /^[a-z]{1,40}(?:[ ,.!?]|$)/i.test(input)) return true
  const others = scripts.filter((script) => script !== 'Latin').map((script) => `\\p{Script=${script}}`)
  if (others.length > 0 && new RegExp(`[${others.join('')}]`, 'u').test(input)) return true
  return isLatin && englishWords(input, emptyLexicon).next().done === false
}
