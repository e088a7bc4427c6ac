/**
 * The navigation: a column at the side; on a phone, four pages along the bottom edge, and everything else in a sheet
 * behind "More".
 */
import { useEffect, useState } from 'preact/hooks'
import type { Page } from '../pages.tsx'
import type { Who } from '../session.ts'
import { Bird } from './bird.tsx'
import { Icon } from './icon.tsx'
import { ShortcutList, useShortcuts } from './shortcuts.tsx'
import { ThemeSwitch } from './theme.tsx'

/** On a phone's bottom edge, beside "More". */
const inSight = 4

interface SideProps {
  who: Who
  pages: readonly Page[]
  current: Page | undefined
  onLeave: () => void
}

export function Side({ who, pages, current, onLeave }: SideProps) {
  const [isOpen, setIsOpen] = useState(false)
  const [isListing, setIsListing] = useState(false)
  useShortcuts(() => setIsListing(true))
  useEffect(() => setIsOpen(false), [current])
  useEffect(() => {
    if (!isOpen) return
    const close = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') setIsOpen(false)
    }
    addEventListener('keydown', close)
    return () => removeEventListener('keydown', close)
  }, [isOpen])
  const groups = [...Map.groupBy(pages, ({ group }) => group)]
  return (
    <>
      {isOpen ? (
        <button class="veil" tabIndex={-1} aria-label="Close the menu" onClick={() => setIsOpen(false)} />
      ) : null}
      <header class={isOpen ? 'side open' : 'side'}>
        <a class="brand" href="#/">
          <Bird size={34} /> Myna
        </a>
        <nav class="links" aria-label="Pages">
          {groups.map(([group, members]) => (
            <div key={group}>
              <span class="group">{group}</span>
              {members.map((page) => (
                <a
                  key={page.id}
                  class={pages.indexOf(page) >= inSight ? 'later' : undefined}
                  href={`#/${page.id}`}
                  aria-current={page === current ? 'page' : undefined}
                  onClick={() => setIsOpen(false)}
                >
                  <Icon name={page.icon} /> {page.title}
                </a>
              ))}
            </div>
          ))}
          <button type="button" class="more" aria-expanded={isOpen} onClick={() => setIsOpen(!isOpen)}>
            <Icon name={isOpen ? 'down' : 'more'} /> More
          </button>
        </nav>
        <div class="foot">
          <a href="/docs">
            <Icon name="book" /> API docs
          </a>
          <button type="button" onClick={() => setIsListing(true)}>
            <Icon name="keyboard" /> Shortcuts
          </button>
          <button type="button" onClick={onLeave}>
            <Icon name="out" /> Sign out
          </button>
          <bdi class="who" title={`${who.account.name}: ${who.key.name}, ${who.key.prefix}…`}>
            Signed in as {who.account.name}
          </bdi>
          <ThemeSwitch />
        </div>
      </header>
      {/* Not in the header: a phone hides parts of it, and with them a dialog that is open. */}
      {isListing ? <ShortcutList onClose={() => setIsListing(false)} /> : null}
    </>
  )
}
