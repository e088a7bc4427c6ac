/** The frame of every page: its content, beside the navigation. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Page, pageIdOf, pages } from '../pages.tsx'
import { signOut, type Who } from '../session.ts'
import { announce, Announcer } from './announce.tsx'
import { keepFocusIn } from './focus.ts'
import { studio } from '../speak/studio.ts'
import { Player } from '../player/player.tsx'
import { Side } from './side.tsx'

/** The page that the address names, of those that this key may see. */
function usePage(mine: readonly Page[]): Page | undefined {
  const [id, setId] = useState(pageIdOf(location.hash))
  useEffect(() => {
    const follow = () => setId(pageIdOf(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  return mine.find((candidate) => candidate.id === id) ?? mine[0]
}

export function Frame({ who, onOut }: { who: Who; onOut: () => void }) {
  const mine = pages.filter(({ isFor }) => isFor(who))
  const page = usePage(mine)
  const main = useRef<HTMLElement>(null)
  useEffect(() => {
    document.title = page === undefined ? 'Myna' : `${page.title} · Myna`
  }, [page])
  useEffect(() => (main.current === null ? undefined : keepFocusIn(main.current)), [])
  const isFirst = useRef(true)
  // Before the page is seen. Later, it would take the focus from whatever has it by then.
  useLayoutEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    scrollTo(0, 0)
    announce('')
    main.current?.querySelector('h1')?.focus()
  }, [page])
  useEffect(() => () => studio.leave(), [])
  const skip = (event: Event) => {
    event.preventDefault()
    main.current?.focus()
  }
  const leave = () => void signOut().then(onOut, (error: Error) => announce(error.message))
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <Side who={who} pages={mine} current={page} onLeave={leave} />
      <main ref={main} tabIndex={-1}>
        {page === undefined ? <p>This key has no permissions here.</p> : <page.show who={who} />}
      </main>
      <Player />
      <Announcer />
    </div>
  )
}
