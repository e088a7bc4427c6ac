import { expect, test } from 'bun:test'
import { readConfig } from './config.ts'
import { pieces, vocabularyText } from './graphs.fixture.ts'
import { isControl, readVocabulary } from './vocabulary.ts'

test('reads a vocabulary in its published form', () => {
  const { pieces: read, blank } = readVocabulary(vocabularyText)
  expect([read.length, blank]).toEqual([pieces.length, pieces.length - 1])
  expect(read).toEqual(pieces)
  expect(readVocabulary('<unk> 0\r\n▁a 1\r\n<blk> 2\r\n').pieces).toEqual(['<unk>', '▁a', '<blk>'])
})

const faults: [string, string, string][] = [
  ['nothing', '', 'vocab.txt does not end with <blk>'],
  ['no blank', 'a 0\nb 1\n', 'vocab.txt does not end with <blk>'],
  ['a gap', 'a 0\nb 2\n<blk> 3\n', 'vocab.txt, line 2: expected a piece and 1, found "b 2"'],
  ['another format', 'a\t0\n<blk>\t1\n', 'vocab.txt, line 1: expected a piece and 0, found "a\\t0"'],
  ['a page of a website', '<!doctype html>\n<p>', 'vocab.txt, line 1: expected a piece and 0, found "<!doctype html>"'],
]

test.each(faults)('refuses a vocabulary with %s', (_, text, message) => {
  expect(() => readVocabulary(text)).toThrow(message)
})

test('recognises control pieces by their form', () => {
  expect(['<unk>', '<blk>', '<|nospeech|>', '<', '>', '<>', 'a<b>', '▁the'].map(isControl)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ])
})

test('reads a configuration in its published form, with and without a limit', () => {
  const published = { model_type: 'nemo-conformer-tdt', features_size: 128, subsampling_factor: 8 }
  expect(readConfig(JSON.stringify(published, null, 4))).toEqual({ bands: 128, subsampling: 8, maxTokensPerFrame: 10 })
  expect(readConfig(JSON.stringify({ ...published, max_tokens_per_step: 5 })).maxTokensPerFrame).toBe(5)
})

test('refuses the configuration of another kind of model', () => {
  expect(() => readConfig('not json')).toThrow('config.json is not JSON')
  expect(() => readConfig('{"model_type":"whisper"}')).toThrow(
    'config.json has model type "whisper", not nemo-conformer-tdt',
  )
  expect(() => readConfig('{}')).toThrow('config.json has model type undefined')
  expect(() => readConfig('{"model_type":"nemo-conformer-tdt","features_size":0}')).toThrow('features_size is 0')
})
