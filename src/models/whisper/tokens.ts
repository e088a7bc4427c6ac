/**
 * Whisper's tokens: text, and the special ones for the task and for times. The ids of special tokens differ between
 * models, so they are found by name in the tokenizer (openai/whisper, `tokenizer.py`).
 */
import type { ByteLevelBpe } from '../tokenizers/bpe.ts'
import type { WhisperConfig } from './config.ts'

/** Seconds of a timestamp. */
export const timestampStepMs = 20
/** 0 to 30 seconds. */
const timestamps = 1501

export interface WhisperTokens {
  readonly bpe: ByteLevelBpe
  endOfText: number
  startOfTranscript: number
  /** ISO 639 to id; of English-only models, empty. */
  languages: ReadonlyMap<string, number>
  translate: number
  transcribe: number
  startOfPrevious: number
  noSpeech: number
  noTimestamps: number
  /** The token of 0.00 s; all above it are later. */
  firstTimestamp: number
  /** Never output: tokens that are not speech, and special tokens that only occur before a transcript. */
  suppressed: readonly number[]
  /** A lone space: no transcript begins with it. */
  blank: readonly number[]
}

/** @throws Error when a special token is missing, or is not what the configuration says */
export function whisperTokens(bpe: ByteLevelBpe, config: WhisperConfig): WhisperTokens {
  const find = (...names: string[]): number => {
    const id = names.map((name) => bpe.added.get(name)).find((found) => found !== undefined)
    if (id === undefined) throw new Error(`tokenizer.json: ${names[0]} is missing`)
    return id
  }
  const startOfTranscript = find('<|startoftranscript|>')
  const translate = find('<|translate|>')
  const noTimestamps = find('<|notimestamps|>')
  const only = {
    transcribe: find('<|transcribe|>'),
    startOfLm: find('<|startoflm|>'),
    startOfPrevious: find('<|startofprev|>'),
    noSpeech: find('<|nospeech|>', '<|nocaptions|>'),
  }
  checkConfig(bpe, config)
  const firstTimestamp = noTimestamps + 1
  if (firstTimestamp + timestamps > config.vocabulary) {
    throw new Error(
      `config.json: a vocabulary of ${config.vocabulary} has no room for timestamps from ${firstTimestamp}`,
    )
  }
  const languages = [...bpe.added].filter(([, id]) => id > startOfTranscript && id < translate)
  const text = config.suppressed ?? nonSpeechTokens(bpe)
  return {
    bpe,
    endOfText: find('<|endoftext|>'),
    startOfTranscript,
    languages: new Map(config.isMultilingual ? languages.map(([name, id]) => [name.slice(2, -2), id]) : []),
    translate,
    transcribe: only.transcribe,
    startOfPrevious: only.startOfPrevious,
    noSpeech: only.noSpeech,
    noTimestamps,
    firstTimestamp,
    suppressed: [...new Set([...text, startOfTranscript, translate, ...Object.values(only)])].sort((a, b) => a - b),
    blank: bpe.encode(' '),
  }
}

function checkConfig(bpe: ByteLevelBpe, { specials }: WhisperConfig): void {
  for (const [name, id] of specials) {
    const found = bpe.added.get(name)
    if (found === id) continue
    throw new Error(
      `generation_config.json says that ${name} is ${id}, tokenizer.json says ${found ?? 'nothing about it'}`,
    )
  }
}

/** The tokens before the transcript. */
export function promptOf(tokens: WhisperTokens, language: string | null, task: 'transcribe' | 'translate'): number[] {
  const { startOfTranscript, languages } = tokens
  if (languages.size === 0) return [startOfTranscript]
  const id = language === null ? undefined : languages.get(language)
  if (id === undefined) throw new Error(`there is no token for the language ${language}`)
  return [startOfTranscript, id, tokens[task]]
}

/** The text of tokens; special tokens and timestamps are left out. */
export const textOf = ({ bpe, endOfText }: WhisperTokens, ids: readonly number[]): string =>
  bpe.decode(ids.filter((id) => id < endOfText))

/** Tokens without timestamps, but with every other name, as the reference measures how often a text repeats itself. */
export const writtenOf = ({ bpe, firstTimestamp }: WhisperTokens, ids: readonly number[]): string =>
  bpe.decode(ids.filter((id) => id < firstTimestamp))

/** Without what Python counts as space, whose `strip` the reference uses. */
export const stripped = (text: string): string => text.replace(leading, '').replace(trailing, '')
// Python counts the separators of files, groups, records and units as space.
/* oxlint-disable no-control-regex */
const leading = /^[\p{White_Space}\x1c-\x1f]+/u
const trailing = /[\p{White_Space}\x1c-\x1f]+$/u
/* oxlint-enable no-control-regex */

// Tokens that annotate rather than transcribe: brackets, speaker tags, notes (openai/whisper, `tokenizer.py`,
// `non_speech_tokens`). Punctuation of sentences is not among them; a hyphen and an apostrophe only at the start of a
// word.
const signs = [
  ...'"#()*+/:;<=>@[\\]^_`{|}~「」『』',
  '<<',
  '>>',
  '<<<',
  '>>>',
  '--',
  '---',
  '-(',
  '-[',
  "('",
  '("',
  '((',
  '))',
  '(((',
  ')))',
  '[[',
  ']]',
  '{{',
  '}}',
  '♪♪',
  '♪♪♪',
]
/** Their first token stands for their whole block, which contains no words. */
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
