/**
 * The console's frame: asks who is signed in, and shows either the door or the page that the address names. A session
 * that ends in the middle leaves the page as it is, with what was typed, behind a door of its own.
 */
import { useEffect, useState } from 'preact/hooks'
import { session } from './api.ts'
import { Dialog } from './parts/dialog.tsx'
import { Frame } from './parts/frame.tsx'
import { linkInAddress, signInBy, type Who, whoIsIn } from './session.ts'
import { SignIn, SignInForm } from './sign-in.tsx'

type State =
  | { kind: 'asking' }
  | { kind: 'out'; why: Error | null }
  | { kind: 'in'; who: Who }
  | { kind: 'failed'; message: string }

export function App() {
  const [state, setState] = useState<State>({ kind: 'asking' })
  const [isEnded, setIsEnded] = useState(false)
  const ask = () => {
    setState({ kind: 'asking' })
    const link = linkInAddress()
    if (link !== null) {
      byLink(link).then(
        (who) => setState({ kind: 'in', who }),
        (why: Error) => setState({ kind: 'out', why }),
      )
      return
    }
    whoIsIn().then(
      (who) => setState(who === null ? { kind: 'out', why: null } : { kind: 'in', who }),
      (error: Error) => setState({ kind: 'failed', message: error.message }),
    )
  }
  useEffect(ask, [])
  useEffect(() => {
    const end = () => setIsEnded(true)
    session.addEventListener('ended', end)
    return () => session.removeEventListener('ended', end)
  }, [])
  const enter = (who: Who) => {
    setState({ kind: 'in', who })
    setIsEnded(false)
    session.dispatchEvent(new Event('begun'))
  }
  const leave = () => {
    setState({ kind: 'out', why: null })
    setIsEnded(false)
  }
  if (state.kind === 'asking') return <p class="waiting">Loading…</p>
  if (state.kind === 'failed') return <Failed message={state.message} onRetry={ask} />
  if (state.kind === 'out') return <SignIn onIn={enter} why={state.why} />
  return (
    <>
      <Frame key={state.who.key.id} who={state.who} onOut={leave} />
      {isEnded ? <Ended onIn={enter} onOut={leave} /> : null}
    </>
  )
}

/** An old link of someone who is signed in anyway does no harm. */
const byLink = (link: string): Promise<Who> =>
  signInBy(link).catch(async (why: Error) => {
    const who = await whoIsIn()
    if (who === null) throw why
    return who
  })

const Failed = ({ message, onRetry }: { message: string; onRetry: () => void }) => (
  <main class="waiting">
    <p role="alert">{message}</p>
    <button onClick={onRetry}>Try again</button>
  </main>
)

const Ended = ({ onIn, onOut }: { onIn: (who: Who) => void; onOut: () => void }) => (
  <Dialog title="Your session has ended" onClose={onOut}>
    <p>
      Sessions end when you sign out in another tab, when their key is revoked, and after twelve hours without a
      request. Sign in again to continue where you were.
    </p>
    <SignInForm onIn={onIn} />
  </Dialog>
)
