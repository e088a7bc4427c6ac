import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../testing/folder.ts'
import { ByteLevelBpe } from '../tokenizers/bpe.ts'
import { readConfig } from './config.ts'
import { writeSmallModel } from './model.fixture.ts'
import { nonSpeechTokens } from './tokens.ts'
import { promptOf, stripped, textOf, whisperTokens, writtenOf } from './tokens.ts'

const folder = await writeSmallModel(temporaryFolder())
const config = await readConfig(folder)
const bpe = new ByteLevelBpe(await Bun.file(`${folder}/tokenizer.json`).json())
const tokens = whisperTokens(bpe, config)

test('builds the tokens before a transcript', () => {
  const id = (name: string) => bpe.added.get(name)!
  expect(promptOf(tokens, 'de', 'translate')).toEqual([id('<|startoftranscript|>'), id('<|de|>'), id('<|translate|>')])
  const english = whisperTokens(bpe, { ...config, isMultilingual: false })
  expect(promptOf(english, 'en', 'transcribe')).toEqual([id('<|startoftranscript|>')])
  expect(() => promptOf(tokens, 'tlh', 'transcribe')).toThrow('no token for the language tlh')
})

test('knows 99 languages, each by its code', () => {
  expect(tokens.languages.size).toBe(99)
  expect([...tokens.languages.keys()].slice(0, 3)).toEqual(['en', 'zh', 'de'])
  expect(tokens.languages.has('translate')).toBe(false)
})

test('never writes annotation signs or the tokens that precede a transcript', () => {
  const { suppressed } = tokens
  for (const text of ['(', '[', '♪', '<<', ' -']) expect(suppressed).toContain(bpe.encode(text)[0]!)
  for (const text of ['.', ',', '?', '-', 'a']) expect(suppressed).not.toContain(bpe.encode(text)[0]!)
  expect(suppressed).toContain(tokens.startOfTranscript)
  expect(suppressed).not.toContain(tokens.endOfText)
  const configured = whisperTokens(bpe, { ...config, suppressed: [3] }).suppressed
  expect(configured).toContain(3)
  expect(configured).not.toContain(bpe.encode('(')[0]!)
  expect(configured.filter((id) => id > tokens.endOfText)).toEqual(suppressed.filter((id) => id > tokens.endOfText))
})

test('signs of several tokens are allowed, and notes are recognised by their first token', () => {
  const found = nonSpeechTokens(bpe)
  expect(found).toEqual([...new Set(found)].sort((a, b) => a - b))
  expect(bpe.encode('♯').length).toBeGreaterThan(1)
  expect(found).toContain(bpe.encode('♯')[0]!)
})

test('timestamps are not text, and other token names are not shown to readers', () => {
  const ids = [tokens.firstTimestamp, ...bpe.encode('a b'), bpe.added.get('<|de|>')!, tokens.firstTimestamp + 50]
  expect(textOf(tokens, ids)).toBe('a b')
  expect(writtenOf(tokens, ids)).toBe('a b<|de|>')
})

test('white space is the same as in Python', () => {
  expect(stripped('\u3000\x1c a \ufeff\u0085\n')).toBe('a \ufeff')
})
