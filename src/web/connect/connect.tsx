/**
 * Shows how to use this server from other programs: its address, a key, and for each program what to set, filled in. A
 * light says when the first request with the new key has come.
 */
import { useState } from 'preact/hooks'
import { KeyForm, type NewKey } from '../accounts/key-form.tsx'
import { Choice, Head, Progressing } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { useLoaded } from '../parts/loading.ts'
import type { PageProps } from '../parts/page.ts'
import { Snippet } from '../parts/snippet.tsx'
import { mayAdminister } from '../session.ts'
import { type Addresses, addressesOf, type ConnectFacts } from './addresses.ts'
import { apps } from './apps.ts'
import { Invite } from './invite.tsx'
import { KeyCard } from './key-card.tsx'

/** The key that was made or given here: in this page's memory alone, so a reload forgets it. */
let held: { key: string; made: NewKey | null } = { key: '', made: null }

const placeholder = 'YOUR_KEY'

export function ConnectPage({ who }: PageProps) {
  const facts = useLoaded<ConnectFacts>('/console/api/connect')
  const [{ key, made }, setHeld] = useState(held)
  const [app, setApp] = useState(apps[0]!.id)
  const [open, setOpen] = useState<'key' | 'invite' | null>(null)
  const isAdmin = mayAdminister(who)
  const addresses = addressesOf(location.origin, facts.value)
  const hold = (next: typeof held) => {
    held = next
    setHeld(next)
  }
  const chosen = apps.find(({ id }) => id === app) ?? apps[0]!
  const close = () => setOpen(null)
  return (
    <div class="page">
      <Head title="Connect" about="Use this server from your own programs, or share it with a friend.">
        {isAdmin ? (
          <div class="row">
            <button onClick={() => setOpen('invite')}>Invite a friend</button>
            <button class="primary" onClick={() => setOpen('key')}>
              <Icon name="key" /> Create key
            </button>
          </div>
        ) : null}
      </Head>
      <Progressing of={[facts]} />
      {facts.value === null ? null : (
        <>
          <div class="pair">
            <AddressCard addresses={addresses} facts={facts.value} />
            <KeyCard value={key} made={made} isAdmin={isAdmin} onGiven={(given) => hold({ key: given, made: null })} />
          </div>
          <section class="card programs" aria-label="Programs">
            <Choice label="Program" value={app} options={apps.map(({ id, title }) => [id, title])} onChange={setApp} />
            <Steps app={chosen} addresses={addresses} facts={facts.value} given={key === '' ? placeholder : key} />
          </section>
        </>
      )}
      {open === 'key' ? (
        <AskForKey app={chosen} onClose={close} onMade={(next) => hold({ key: next.secret, made: next })} />
      ) : null}
      {open === 'invite' ? <Invite addresses={addresses} onClose={close} /> : null}
    </div>
  )
}

function AddressCard({ addresses, facts }: { addresses: Addresses; facts: ConnectFacts }) {
  const others = facts.network_urls.filter((url) => url !== addresses.origin)
  const isAlone = addresses.isLocal && others.length === 0 && facts.public_url === null
  return (
    <section class="card">
      <h2>Address</h2>
      <Snippet label="Base URL" text={`${addresses.origin}/v1`} />
      {addresses.docker === null ? null : (
        <Snippet label="From a container on this machine" text={`${addresses.docker}/v1`} />
      )}
      {addresses.isLocal
        ? others.map((url) => <Snippet key={url} label="From your network" text={`${url}/v1`} />)
        : null}
      {isAlone ? (
        <p class="hint">
          The server answers only its own machine. For containers and other machines, start it with{' '}
          <code>myna serve --host 0.0.0.0</code>
        </p>
      ) : null}
    </section>
  )
}

interface StepsProps {
  app: (typeof apps)[number]
  addresses: Addresses
  facts: ConnectFacts
  given: string
}

function Steps({ app, addresses, facts, given }: StepsProps) {
  const [isInDocker, setIsInDocker] = useState(true)
  const mayBeInDocker = app.isInDocker === true && addresses.docker !== null
  const origin = mayBeInDocker && isInDocker ? (addresses.docker ?? addresses.origin) : addresses.origin
  const { about, blocks, note } = app.recipe({
    base: `${origin}/v1`,
    key: given,
    host: new URL(addresses.elsewhere ?? origin).hostname,
    wyomingPort: facts.wyoming_port,
  })
  return (
    <>
      <p>{about}</p>
      {mayBeInDocker ? (
        <label class="check">
          <input
            type="checkbox"
            checked={isInDocker}
            onChange={({ currentTarget }) => setIsInDocker(currentTarget.checked)}
          />{' '}
          It runs in Docker on this machine
        </label>
      ) : null}
      {blocks.map(({ label, text }) => (
        <Snippet key={`${app.id} ${label} ${text}`} label={label} text={text} />
      ))}
      {note === undefined ? null : <p class="hint">{note}</p>}
    </>
  )
}

interface AskForKeyProps {
  app: (typeof apps)[number]
  onClose: () => void
  onMade: (key: NewKey) => void
}

/** For the program that is chosen, in an account of its own. */
function AskForKey({ app, onClose, onMade }: AskForKeyProps) {
  const accounts = useLoaded<{ data: { name: string; disabled_at: number | null }[] }>('/console/api/admin/accounts')
  const names = (accounts.value?.data ?? []).filter(({ disabled_at: at }) => at === null).map(({ name }) => name)
  return <KeyForm accounts={names} account={app.id} name={app.title} onClose={onClose} onMade={onMade} />
}
