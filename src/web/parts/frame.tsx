/** The frame of every page: navigation, the signed-in user, and signing out. */
import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { AccountsPage } from '../accounts/accounts.tsx'
import { announce, Announcer } from './announce.tsx'
import { keepFocusIn } from './focus.ts'
import { ModelsPage } from '../models.tsx'
import { ServerPage } from '../server.tsx'
import { allows, mayAdminister, signOut, type Who } from '../session.ts'
import { SpeakPage } from '../speak/speak.tsx'
import { TranscribePage } from '../transcribe/transcribe.tsx'
import { UsagePage } from '../usage/usage.tsx'
import { VoicesPage } from '../voices/voices.tsx'
import type { PageProps } from './page.ts'

interface Page {
  id: string
  title: string
  show: ComponentType<PageProps>
  isFor: (who: Who) => boolean
}

const pages: readonly Page[] = [
  { id: 'speak', title: 'Speak', show: SpeakPage, isFor: (who) => allows(who, 'tts') },
  { id: 'voices', title: 'Voices', show: VoicesPage, isFor: (who) => allows(who, 'voices') },
  { id: 'transcribe', title: 'Transcribe', show: TranscribePage, isFor: (who) => allows(who, 'tts') },
  { id: 'usage', title: 'Usage', show: UsagePage, isFor: (who) => allows(who, 'usage') },
  { id: 'models', title: 'Models', show: ModelsPage, isFor: mayAdminister },
  { id: 'accounts', title: 'Accounts', show: AccountsPage, isFor: mayAdminister },
  { id: 'server', title: 'Server', show: ServerPage, isFor: mayAdminister },
]

const pageOf = (hash: string): string => hash.replace(/^#\/?/, '').split('/')[0] ?? ''

export function Frame({ who, onOut }: { who: Who; onOut: () => void }) {
  const mine = pages.filter(({ isFor }) => isFor(who))
  const [id, setId] = useState(pageOf(location.hash))
  useEffect(() => {
    const follow = () => setId(pageOf(location.hash))
    addEventListener('hashchange', follow)
    return () => removeEventListener('hashchange', follow)
  }, [])
  const page = mine.find((candidate) => candidate.id === id) ?? mine[0]
  useEffect(() => {
    document.title = page === undefined ? 'Myna' : `${page.title} · Myna`
  }, [page])
  const main = useRef<HTMLElement>(null)
  useEffect(() => (main.current === null ? undefined : keepFocusIn(main.current)), [])
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [page])
  const isFirst = useRef(true)
  useEffect(() => {
    if (isFirst.current) {
      isFirst.current = false
      return
    }
    scrollTo(0, 0)
    announce('')
    main.current?.querySelector('h1')?.focus()
  }, [page])
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
      <header class="bar">
        <a class="brand" href="#/">
          <span class="mark" aria-hidden="true" /> Myna
        </a>
        <nav ref={nav} aria-label="Pages">
          {mine.map(({ id: target, title }) => (
            <a key={target} href={`#/${target}`} aria-current={target === page?.id ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <div class="who">
          <bdi title={`${who.account.name}: ${who.key.name}, ${who.key.prefix}…`}>{who.account.name}</bdi>
          <button class="quiet" onClick={leave}>
            Sign out
          </button>
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        {page === undefined ? <p>This key has no permissions here.</p> : <page.show who={who} />}
      </main>
      <Announcer />
    </div>
  )
}
