/** Dark, light, or as the system has it: chosen once and kept in this browser. */
import { useState } from 'preact/hooks'
import { Icon, type IconName } from './icon.tsx'

type Theme = 'system' | 'dark' | 'light'

const key = 'myna-theme'
const changes = new EventTarget()
const themes: readonly (readonly [Theme, string, IconName])[] = [
  ['system', 'As the system', 'screen'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
]

function chosen(): Theme {
  const kept = localStorage.getItem(key)
  return kept === 'dark' || kept === 'light' ? kept : 'system'
}

/** Before the first paint. */
export function applyTheme(): void {
  const theme = chosen()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

/** Called whenever the colours change: for what is drawn on a canvas. @returns ends it */
export function onThemeChange(redraw: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  dark.addEventListener('change', redraw)
  changes.addEventListener('change', redraw)
  return () => {
    dark.removeEventListener('change', redraw)
    changes.removeEventListener('change', redraw)
  }
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(chosen)
  const choose = (next: Theme) => {
    localStorage.setItem(key, next)
    applyTheme()
    setTheme(next)
    changes.dispatchEvent(new Event('change'))
  }
  return (
    <div class="tabs themes" role="group" aria-label="Theme">
      {themes.map(([id, title, icon]) => (
        <button key={id} type="button" aria-pressed={id === theme} title={title} onClick={() => choose(id)}>
          <Icon name={icon} />
          <span class="unseen">{title}</span>
        </button>
      ))}
    </div>
  )
}
