/** One line of `myna doctor`: what was checked, its state, and the remedy. */
export interface Finding {
  about: string
  /** Only `failed` keeps Myna from working; `warning` may, one day. */
  state: 'ok' | 'note' | 'warning' | 'failed'
  message: string
  /** The remedy; null: none. */
  remedy: string | null
}

/** The finding about one thing, without its name. */
export type Found = Omit<Finding, 'about'>

export const ok = (message: string): Found => ({ state: 'ok', message, remedy: null })
export const noted = (message: string, remedy: string | null = null): Found => ({ state: 'note', message, remedy })
export const warning = (message: string, remedy: string): Found => ({ state: 'warning', message, remedy })
export const failed = (message: string, remedy: string): Found => ({ state: 'failed', message, remedy })

/** The words of an error and of what caused it, the deepest last. */
export function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined ? error.message : `${error.message} (${wordsOf(error.cause)})`
}
