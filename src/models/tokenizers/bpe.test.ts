import { expect, test } from 'bun:test'
import { ByteLevelBpe } from './bpe.ts'
import { brokenIds, hashLength, hashOfIds, hashOfText, textCount, tokenizerSeed } from './bpe-golden.fixture.ts'
import { tokenizerTexts } from './bpe-texts.fixture.ts'

interface Golden {
  tokenizer: { model: Record<string, unknown>; pre_tokenizer: object; added_tokens: object[] }
  encoded: string
  decoded: string
}

// Written by scripts/golden/whisper-features.ts.
const golden: Golden = await Bun.file(`${import.meta.dir}/bpe-golden.json.gz`)
  .bytes()
  .then((bytes) => JSON.parse(new TextDecoder().decode(Bun.gunzipSync(bytes))))
const bpe = new ByteLevelBpe(golden.tokenizer)
const texts = tokenizerTexts(textCount, tokenizerSeed)
const hashAt = (hashes: string, at: number) => hashes.slice(at * hashLength, (at + 1) * hashLength)

test('5,000 texts in 20 scripts get the same ids as from the tokenizers library', () => {
  const differing = texts.filter((text, i) => hashOfIds(bpe.encode(text)) !== hashAt(golden.encoded, i))
  expect(golden.encoded.length).toBe(textCount * hashLength)
  expect(differing).toEqual([])
})

test('decoding restores every text', () => {
  expect(texts.filter((text) => bpe.decode(bpe.encode(text)) !== text)).toEqual([])
})

test('2,000 rows of tokens with broken characters decode to the same texts as in the library', () => {
  const rows = brokenIds(bpe.size)
  const differing = rows.filter((row, i) => hashOfText(bpe.decode(row)) !== hashAt(golden.decoded, i))
  expect(golden.decoded.length).toBe(rows.length * hashLength)
  expect(differing).toEqual([])
})

test('names of added tokens are plain text when a person writes them', () => {
  const id = bpe.added.get('<|en|>')
  expect(id).toBeNumber()
  expect(bpe.encode('<|en|>')).not.toContain(id!)
  expect(bpe.decode([id!])).toBe('<|en|>')
})

test('a text never becomes the control token that ends a text, although the vocabulary has it as a word', () => {
  const name = '<|endoftext|>'
  const { model, added_tokens } = golden.tokenizer
  const vocab = { ...(model['vocab'] as Record<string, number>), [name]: 60_000 }
  const file = { ...withModel({ vocab }), added_tokens: [...added_tokens, { id: 60_000, content: name }] }
  const other = new ByteLevelBpe(file)
  const [id, known] = [other.added.get(name)!, bpe.added.get(name)]
  for (const text of [name, `a ${name}`, `${name}${name}`, ` ${name} b`, `\n${name}\n`]) {
    expect(other.encode(text)).not.toContain(id)
    expect(bpe.encode(text)).not.toContain(known ?? id)
    expect(other.decode(other.encode(text))).toBe(text)
  }
})

test('half a character becomes U+FFFD, both halves the character, and a byte order mark is kept', () => {
  const ids = bpe.encode('\u{10fffd}')
  expect(ids.length).toBe(4)
  expect(bpe.decode(ids.slice(0, 2))).toBe('\ufffd')
  expect(bpe.decode(ids)).toBe('\u{10fffd}')
  expect(bpe.decode(bpe.encode('\ufeffa'))).toBe('\ufeffa')
})

test('encoding one word of 200,000 letters takes linear time', () => {
  const ids = bpe.encode('abcdefghij'.repeat(20_000))
  expect(bpe.decode(ids).length).toBe(200_000)
})

test.each([
  ['is no object', null, 'is not an object'],
  ['is of another kind', { ...golden.tokenizer, model: { type: 'Unigram' } }, 'only byte-level BPE'],
  ['splits otherwise', { ...golden.tokenizer, pre_tokenizer: { type: 'Metaspace' } }, 'only byte-level BPE'],
  ['normalizes', { ...golden.tokenizer, normalizer: { type: 'NFC' } }, 'normalizer'],
  ['merges what it has not', withModel({ merges: ['a b', 'ab zz'] }), 'which is not a token'],
  ['merges three', withModel({ merges: ['a b c'] }), 'does not have two tokens'],
  ['has letters that are no bytes', withModel({ vocab: { 語: 0 } }), 'not made of bytes'],
  ['has ids that are none', withModel({ vocab: { a: -1 } }), 'not a token id'],
  ['lacks a byte', withModel({ vocab: { a: 0 }, merges: [] }), 'which is not a token'],
])('refuses a file that %s', (_, file, words) => {
  expect(() => new ByteLevelBpe(file)).toThrow(words)
})

function withModel(fields: object): object {
  return { ...golden.tokenizer, model: { ...golden.tokenizer.model, ...fields } }
}

test('merges may be written as pairs, as later versions of the library do', () => {
  const merges = (golden.tokenizer.model['merges'] as (string | string[])[]).map((merge) =>
    typeof merge === 'string' ? merge.split(' ') : merge.join(' '),
  )
  const other = new ByteLevelBpe(withModel({ merges }))
  for (const text of texts.slice(0, 300)) expect(other.encode(text)).toEqual(bpe.encode(text))
})
