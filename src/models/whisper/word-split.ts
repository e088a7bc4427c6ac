/**
 * Decides which tokens make a word (openai/whisper, `tokenizer.py`): those from one space to the next, or, in
 * languages without spaces between words, each group that completes a character.
 */
import type { WhisperTokens } from './tokens.ts'

export interface Word {
  /** As decoded, with its space. */
  text: string
  tokens: number[]
}

const unspaced = new Set(['zh', 'ja', 'th', 'lo', 'my', 'yue'])
/** @param language ISO 639; null: one with spaces @returns whether it puts no spaces between words */
export const isUnspaced = (language: string | null): boolean => language !== null && unspaced.has(language)

const asciiPunctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
const unfinished = '\ufffd'

/** @param ids text only @param language ISO 639; null or another: one with spaces */
export function splitWords(ids: readonly number[], language: string | null, tokens: WhisperTokens): Word[] {
  // The end of the text is the last word. After bytes that are not a character it is not, and another is dropped for
  // it.
  const parts = splitCharacters([...ids, tokens.endOfText], tokens)
  const words = isUnspaced(language) ? parts : joined(parts, tokens.endOfText)
  return words.slice(0, -1)
}

function joined(parts: readonly Word[], endOfText: number): Word[] {
  const words: Word[] = []
  for (const { text, tokens } of parts) {
    const before = words.at(-1)
    // Nothing but space is punctuation too, to the reference: the empty text is part of every text.
    const standsAlone = text.startsWith(' ') || asciiPunctuation.includes(text.trim()) || tokens[0] === endOfText
    if (before === undefined || standsAlone) words.push({ text, tokens })
    else {
      before.text += text
      before.tokens.push(...tokens)
    }
  }
  return words
}

/** The shortest runs of tokens that are whole characters. A run that is broken in the text itself counts as whole. */
function splitCharacters(ids: readonly number[], { bpe }: WhisperTokens): Word[] {
  const whole = bpe.decode(ids)
  const parts: Word[] = []
  let tokens: number[] = []
  let offset = 0
  for (const id of ids) {
    tokens.push(id)
    const text = bpe.decode(tokens)
    const hole = text.indexOf(unfinished)
    if (hole >= 0 && whole[offset + hole] !== unfinished) continue
    parts.push({ text, tokens })
    offset += text.length
    tokens = []
  }
  return parts
}
