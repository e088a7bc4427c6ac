/**
 * Tokens that annotate instead of saying what was said: brackets, speaker tags, notes (openai/whisper, `tokenizer.py`,
 * `non_speech_tokens`). Punctuation of sentences is none of them; a hyphen and an apostrophe only where they begin a
 * word.
 */
import type { ByteLevelBpe } from '../tokenizers/bpe.ts'

const signs = [
  ...'"#()*+/:;<=>@[\\]^_`{|}~「」『』',
  ...['<<', '>>', '<<<', '>>>', '--', '---', '-(', '-[', "('", '("', '((', '))', '(((', ')))', '[[', ']]', '{{', '}}'],
  ...['♪♪', '♪♪♪'],
]
/** Their first token stands for their whole block, in which there is nothing to say. */
const notes = [...'♩♪♫♬♭♮♯']

/** In ascending order. */
export function nonSpeechTokens(bpe: ByteLevelBpe): number[] {
  const found = new Set([bpe.encode(' -')[0]!, bpe.encode(" '")[0]!])
  for (const sign of [...signs, ...notes]) {
    for (const ids of [bpe.encode(sign), bpe.encode(` ${sign}`)]) {
      if (ids.length === 1 || notes.includes(sign)) found.add(ids[0]!)
    }
  }
  return [...found].sort((a, b) => a - b)
}
