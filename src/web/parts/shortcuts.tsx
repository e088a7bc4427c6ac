/** Keys that work on every page, unless something is typed or a dialog is open: what they do, and the list of them. */
import { useEffect } from 'preact/hooks'
import { deck } from '../player/deck.ts'
import { Dialog } from './dialog.tsx'

const stepS = 5

const list: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['Ctrl', 'Enter'], 'Speak the text'],
  [['Esc'], 'Cancel speaking, or close a dialog'],
  [['Space'], 'Pause and play'],
  [['←', '→'], 'Five seconds back and forward'],
  [['↑', '↓'], 'Through a list of voices'],
  [['/'], 'To the search, or to the text'],
  [['?'], 'This list'],
]

/** What takes letters, spaces or arrows for itself. */
const takesKeys = 'input, textarea, select, button, summary, a, audio, [role="slider"], [tabindex="0"]'

/** Space after a click on Speak pauses what it began, instead of beginning it again. Enter still does. */
const pausesFrom = (target: Element, key: string): boolean =>
  key === ' ' && deck.isPlaying && target.matches('.composer .primary')

/** @returns whether there was something to do */
function act(event: KeyboardEvent, showList: () => void): boolean {
  const target = event.target instanceof Element ? event.target : null
  const isTyped = target?.closest('input, textarea, select')
  if (event.key === '?' && !isTyped) {
    showList()
    return true
  }
  if (event.key === '/' && !isTyped) {
    const field = document.querySelector<HTMLElement>('main input[type="search"], main #text, main input')
    field?.focus()
    return field !== null
  }
  if (deck.track === null || (target?.closest(takesKeys) && !pausesFrom(target, event.key))) return false
  if (event.key === ' ') deck.toggle()
  else if (event.key === 'ArrowLeft') deck.seek(deck.positionS - stepS)
  else if (event.key === 'ArrowRight') deck.seek(deck.positionS + stepS)
  else return false
  return true
}

/** @param showList called for the key that asks for the list */
export function useShortcuts(showList: () => void): void {
  useEffect(() => {
    let isTaken = false
    const listen = (event: KeyboardEvent) => {
      isTaken = false
      if (event.ctrlKey || event.metaKey || event.altKey) return
      if (document.querySelector('dialog[open]') !== null) return
      isTaken = act(event, showList)
      if (isTaken) event.preventDefault()
    }
    // Firefox presses a button when the space bar goes up.
    const release = (event: KeyboardEvent) => {
      if (isTaken && event.key === ' ') event.preventDefault()
    }
    addEventListener('keydown', listen)
    addEventListener('keyup', release)
    return () => {
      removeEventListener('keydown', listen)
      removeEventListener('keyup', release)
    }
  }, [])
}

export function ShortcutList({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {list.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
