/**
 * The text and its settings as they were left, kept in this browser for each account. A browser takes milliseconds to
 * keep a long text, so it is kept once the typing pauses, and when the page is left.
 */
import type { SpeechAsk } from './speech.ts'

const sample = 'The myna learns the sounds that it hears, and says them again in its own time.'
const fresh: SpeechAsk = { input: sample, voice: null, model: null, format: 'wav', speed: 1 }

/** A browser keeps about 5 million characters in all. */
const maxKeptChars = 500_000
const pauseMs = 400
const keyOf = (accountId: string): string => `myna-draft-${accountId}`

/** What is not kept yet, and when it will be. */
let latest: { accountId: string; ask: SpeechAsk } | null = null
let timer: ReturnType<typeof setTimeout> | undefined

export function draftOf(accountId: string): SpeechAsk {
  keepNow()
  try {
    return { ...fresh, ...(JSON.parse(localStorage.getItem(keyOf(accountId)) ?? '{}') as Partial<SpeechAsk>) }
  } catch {
    return fresh
  }
}

export function keepDraft(accountId: string, ask: SpeechAsk): void {
  if (latest !== null && latest.accountId !== accountId) keepNow()
  latest = { accountId, ask }
  clearTimeout(timer)
  timer = setTimeout(keepNow, pauseMs)
}

function keepNow(): void {
  clearTimeout(timer)
  if (latest === null) return
  const { accountId, ask } = latest
  latest = null
  try {
    localStorage.setItem(keyOf(accountId), JSON.stringify({ ...ask, input: ask.input.slice(0, maxKeptChars) }))
  } catch {
    // The browser keeps nothing: the draft lasts as long as the page.
  }
}

// A page that is hidden may be ended without another word.
addEventListener('pagehide', keepNow)
document.addEventListener('visibilitychange', keepNow)
