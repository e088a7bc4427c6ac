/** Something that a page asks the server for: shown once it is there, asked for again on demand. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { get } from './api.ts'

export interface Loaded<T> {
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
  useEffect(() => {
    if (everyMs === 0) return
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, everyMs)
    return () => clearInterval(timer)
  }, [everyMs, reload])
  return { value, error, reload }
}
