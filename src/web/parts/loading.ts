/**
 * Data that a page requests from the server: shown once loaded, reloaded on demand and, while the page is visible,
 * every few seconds, also where the server cannot be reached. Each request waits for the previous answer, so that a
 * slow server is not asked faster than it answers; without a session nothing is requested.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get, session } from '../api.ts'

export interface Loaded<T> {
  /** The last that came; that of an earlier path until the one of a new path is here. */
  value: T | null
  error: Error | null
  reload: () => void
}

/** How often a server that went away is looked for: it is often only restarted. */
const retryMs = 3000

export const isUnreachable = (error: Error | null): boolean => error instanceof ApiError && error.code === 'unreachable'

/** @param path null: request nothing yet @param everyMs how often to reload; 0: only on demand */
export function useLoaded<T>(path: string | null, everyMs = 0): Loaded<T> {
  const [value, setValue] = useState<T | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  const pause = useRef(everyMs)
  useEffect(() => {
    if (path === null) return
    const abort = new AbortController()
    get<T>(path, abort.signal).then(
      (found) => {
        setValue(found)
        setError(null)
      },
      (cause: Error) => {
        if (!abort.signal.aborted) setError(cause)
      },
    )
    return () => abort.abort()
  }, [path, turn])
  const isOut = error instanceof ApiError && error.status === 401
  pause.current = everyMs > 0 || !isUnreachable(error) ? everyMs : retryMs
  // Begins anew with every answer: both states are other objects then.
  useEffect(() => {
    if (pause.current === 0 || isOut || (value === null && error === null)) return
    const timer = setTimeout(() => {
      if (!document.hidden) reload()
    }, pause.current)
    return () => clearTimeout(timer)
  }, [value, error, isOut, everyMs, reload])
  useEffect(() => {
    const look = () => {
      if (!document.hidden && pause.current > 0) reload()
    }
    document.addEventListener('visibilitychange', look)
    session.addEventListener('begun', reload)
    return () => {
      document.removeEventListener('visibilitychange', look)
      session.removeEventListener('begun', reload)
    }
  }, [reload])
  return { value, error, reload }
}

/** The value once it has been unchanged for this long: for requests while the user types. */
export function useSettled<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs)
    return () => clearTimeout(timer)
  }, [value, afterMs])
  return settled
}
