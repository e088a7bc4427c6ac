/**
 * What was spoken before: text, voice, sound and times, kept in this browser (IndexedDB) for the account that made it.
 * Bounded: the oldest go first. Where the browser keeps nothing (a private window), it lasts as long as the page.
 */
import type { Format } from './speech.ts'

export interface Take {
  id: string
  accountId: string
  createdAtMs: number
  text: string
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
const [databaseName, storeName] = ['myna', 'takes']

let opened: Promise<IDBDatabase | null> | null = null
/** Where there is no database. */
let unkept: readonly Take[] = []

function database(): Promise<IDBDatabase | null> {
  opened ??= new Promise((resolve) => {
    const asked = indexedDB.open(databaseName, 1)
    asked.onupgradeneeded = () => asked.result.createObjectStore(storeName, { keyPath: 'id' })
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => resolve(null)
  })
  return opened
}

/** @param work is given the store @returns its result, once the transaction is done */
async function inStore<T>(mode: IDBTransactionMode, work: (takes: IDBObjectStore) => IDBRequest<T>): Promise<T | null> {
  const found = await database()
  if (found === null) return null
  return new Promise((resolve, reject) => {
    const transaction = found.transaction(storeName, mode)
    const asked = work(transaction.objectStore(storeName))
    transaction.oncomplete = () => resolve(asked.result)
    transaction.onerror = () => reject(transaction.error ?? new Error('The browser did not keep it.'))
    transaction.onabort = () => reject(transaction.error ?? new Error('The browser did not keep it.'))
  })
}

const allTakes = async (): Promise<Take[]> => {
  const kept = (await inStore<Take[]>('readonly', (takes) => takes.getAll() as IDBRequest<Take[]>)) ?? []
  return [...kept, ...unkept].toSorted((a, b) => b.createdAtMs - a.createdAtMs)
}

/** @returns the newest first */
export const takesOf = async (accountId: string): Promise<Take[]> =>
  (await allTakes()).filter((take) => take.accountId === accountId)

/** Keeps it and lets the oldest go, of any account, beyond 200 takes or 400 MB. */
export async function keepTake(take: Take): Promise<void> {
  const isKept = await inStore('readwrite', (takes) => takes.put(take)).catch(() => null)
  if (isKept === null) unkept = [take, ...unkept].slice(0, maxTakes)
  let bytes = 0
  for (const [at, { id, file }] of (await allTakes()).entries()) {
    bytes += file.size
    if (at >= maxTakes || (bytes > maxBytes && at > 0)) await forgetTake(id)
  }
}

export async function forgetTake(id: string): Promise<void> {
  unkept = unkept.filter((take) => take.id !== id)
  await inStore('readwrite', (takes) => takes.delete(id))
}

/** All of this account. */
export async function forgetTakes(accountId: string): Promise<void> {
  for (const { id } of await takesOf(accountId)) await forgetTake(id)
}
