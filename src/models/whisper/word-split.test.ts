import { expect, test } from 'bun:test'
import { ByteLevelBpe } from '../tokenizers/bpe.ts'
import { readGolden } from './model.fixture.ts'
import type { WhisperTokens } from './tokens.ts'
import { splitWords } from './word-split.ts'

const { tokenizer } = await readGolden<{ tokenizer: object }>(`${import.meta.dir}/../tokenizers/bpe-golden.json.gz`)
const bpe = new ByteLevelBpe(tokenizer)
const tokens = { bpe, endOfText: bpe.added.get('<|endoftext|>')! } as WhisperTokens
const split = (text: string, language: string | null) => splitWords(bpe.encode(text), language, tokens)
const texts = (text: string, language: string | null) => split(text, language).map((word) => word.text)

test('words begin with a space, signs are separate', () => {
  expect(texts(' Well, (two) words!', 'en')).toEqual([' Well', ',', ' ', '(two', ')', ' words', '!'])
})

test('characters of several tokens stay whole, in every language', () => {
  expect(texts(' 鸚鵡 𐍈', 'de').join('')).toBe(' 鸚鵡 𐍈')
  expect(texts('鸚鵡', 'ja')).toEqual(['鸚', '鵡'])
  expect(texts('鸚鵡', 'en')).toEqual(['鸚鵡'])
})

test('no token is lost', () => {
  const ids = bpe.encode(' ok 鸚鵡, \u{10fffd}!')
  for (const language of ['en', 'zh', null]) {
    const words = splitWords(ids, language, tokens)
    expect(words.flatMap((word) => word.tokens)).toEqual(ids)
  }
})

test('incomplete bytes at the end join the word before them, as in the reference', () => {
  const ids = [...bpe.encode(' ok no'), ...bpe.encode('\u{10fffd}').slice(0, 3)]
  expect(splitWords(ids, 'en', tokens).map((word) => word.text)).toEqual([' ok'])
})
