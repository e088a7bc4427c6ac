/**
 * Keeps what was spoken before: text, voice, sound and times, in this browser (IndexedDB) for the account that made
 * it. Bounded: the oldest go first. Where the browser keeps nothing (a private window), it lasts as long as the page.
 */
import { BrowserStore } from '../parts/browser-store.ts'
import type { Format } from './speech.ts'

export interface Take {
  id: string
  accountId: string
  createdAtMs: number
  /** A book's: its title. */
  text: string
  /** Of a book; absent: it is a text. */
  chapters?: number
  /** null: the model's own. */
  voiceId: string | null
  voiceName: string
  model: string | null
  speed: number
  format: Format
  /** False: it ends where the speech failed or was cancelled. */
  isWhole: boolean
  seconds: number
  /** See `peaks.ts`. */
  peaks: readonly number[]
  file: Blob
}

const maxTakes = 200
const maxBytes = 400_000_000
const store = new BrowserStore('myna', 'takes', 'id')
/** Where nothing is kept. */
let unkept: readonly Take[] = []

const allTakes = async (): Promise<Take[]> => {
  const kept = (await store.run<Take[]>('readonly', (takes) => takes.getAll())) ?? []
  return [...kept, ...unkept].toSorted((a, b) => b.createdAtMs - a.createdAtMs)
}

/** @returns the newest first */
export const takesOf = async (accountId: string): Promise<Take[]> =>
  (await allTakes()).filter((take) => take.accountId === accountId)

/** Keeps it and lets the oldest go, of any account, beyond 200 takes or 400 MB. */
export async function keepTake(take: Take): Promise<void> {
  const isKept = await store.run('readwrite', (takes) => takes.put(take)).catch(() => null)
  if (isKept === null) unkept = [take, ...unkept].slice(0, maxTakes)
  let bytes = 0
  for (const [at, { id, file }] of (await allTakes()).entries()) {
    bytes += file.size
    if (at >= maxTakes || (bytes > maxBytes && at > 0)) await forgetTake(id)
  }
}

export async function forgetTake(id: string): Promise<void> {
  unkept = unkept.filter((take) => take.id !== id)
  await store.run('readwrite', (takes) => takes.delete(id))
}

/** All of this account. */
export async function forgetTakes(accountId: string): Promise<void> {
  for (const { id } of await takesOf(accountId)) await forgetTake(id)
}
