/** The result of an action, shown once at the bottom of the page and read out by screen readers. */
import { useEffect, useState } from 'preact/hooks'

const shownMs = 8000

let tell: ((words: { text: string }) => void) | null = null

export const announce = (text: string): void => tell?.({ text })

export function Announcer() {
  const [said, setSaid] = useState({ text: '' })
  useEffect(() => {
    tell = setSaid
    return () => {
      tell = null
    }
  }, [])
  useEffect(() => {
    if (said.text === '') return
    const timer = setTimeout(() => setSaid({ text: '' }), shownMs)
    return () => clearTimeout(timer)
  }, [said])
  return (
    <div class="said" role="status">
      {said.text === '' ? null : <p>{said.text}</p>}
    </div>
  )
}
