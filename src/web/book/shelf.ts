/**
 * The book that an account has begun, kept in this browser with the parts that are spoken, so that a reload loses none
 * of them. It goes when it is whole (the history has it then), closed, or another one begins.
 */
import type { Chapter } from '../../book/book.ts'
import { BrowserStore } from '../parts/browser-store.ts'

export interface Manner {
  voice: string | null
  model: string | null
  speed: number
}

export interface Plan {
  id: string
  accountId: string
  /** The file's, without its ending. */
  name: string
  title: string | null
  author: string | null
  /** Those that are wanted. */
  chapters: readonly Chapter[]
  manner: Manner
  voiceName: string
  /** Of a request. */
  maxChars: number
}

export interface SpokenPart {
  planId: string
  /** Its place among the parts. */
  at: number
  text: string
  /** Frames, and the silence behind them. */
  sound: Blob
  seconds: number
}

const plans = new BrowserStore('myna-books', 'plans', 'accountId')
const parts = new BrowserStore('myna-book-parts', 'parts', ['planId', 'at'])

const partsOf = (planId: string) => IDBKeyRange.bound([planId], [planId, []])

/** Takes the place of the account's earlier one. */
export async function keepPlan(plan: Plan): Promise<void> {
  await forgetBook(plan.accountId)
  await plans.run('readwrite', (store) => store.put(plan))
}

export const keepPart = (part: SpokenPart): Promise<unknown> => parts.run('readwrite', (store) => store.put(part))

/** The begun book of the account, and its parts in order. */
export async function bookOf(accountId: string): Promise<{ plan: Plan; spoken: SpokenPart[] } | null> {
  const plan = await plans.run<Plan | undefined>('readonly', (store) => store.get(accountId))
  if (plan === null || plan === undefined) return null
  const spoken = await parts.run<SpokenPart[]>('readonly', (store) => store.getAll(partsOf(plan.id)))
  return { plan, spoken: spoken ?? [] }
}

export async function forgetBook(accountId: string): Promise<void> {
  const begun = await plans.run<Plan | undefined>('readonly', (store) => store.get(accountId))
  if (begun === null || begun === undefined) return
  await plans.run('readwrite', (store) => store.delete(accountId))
  await parts.run('readwrite', (store) => store.delete(partsOf(begun.id)))
}
