/**
 * Something that a page asks the server for: shown once it is there, asked for again on demand and, while anybody looks
 * at the page, every few seconds. The next question waits for the answer to the last, so that a slow server is not
 * asked faster than it answers; nobody signed in is asked about nothing.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get, session } from '../api.ts'

export interface Loaded<T> {
  /** The last that came; that of an earlier path until the one of a new path is here. */
  value: T | null
  error: Error | null
  reload: () => void
}

/** @param path null: nothing is asked for yet @param everyMs asks again so often; 0: only when told to */
export function useLoaded<T>(path: string | null, everyMs = 0): Loaded<T> {
  const [value, setValue] = useState<T | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const [turn, setTurn] = useState(0)
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  const pause = useRef(everyMs)
  pause.current = everyMs
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

/** The value as it was when it last stayed the same for so long: for what is asked while somebody types. */
export function useSettled<T>(value: T, afterMs: number): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), afterMs)
    return () => clearTimeout(timer)
  }, [value, afterMs])
  return settled
}
