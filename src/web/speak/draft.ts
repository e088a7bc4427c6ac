/** The text and its settings as they were left, kept in this browser for each account. */
import type { SpeechAsk } from './speech.ts'

const sample = 'The myna learns the sounds that it hears, and says them again in its own time.'
const fresh: SpeechAsk = { input: sample, voice: null, model: null, format: 'wav', speed: 1 }

/** A browser keeps about 5 million characters in all. */
const maxKeptChars = 500_000
const keyOf = (accountId: string): string => `myna-draft-${accountId}`

export function draftOf(accountId: string): SpeechAsk {
  try {
    return { ...fresh, ...(JSON.parse(localStorage.getItem(keyOf(accountId)) ?? '{}') as Partial<SpeechAsk>) }
  } catch {
    return fresh
  }
}

export function keepDraft(accountId: string, ask: SpeechAsk): void {
  try {
    localStorage.setItem(keyOf(accountId), JSON.stringify({ ...ask, input: ask.input.slice(0, maxKeptChars) }))
  } catch {
    // The browser keeps nothing: the draft lasts as long as the page.
  }
}
