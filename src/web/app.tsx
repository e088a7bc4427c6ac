/** The console's frame: asks who is signed in, and shows either the door or the page that the address names. */
import { useEffect, useState } from 'preact/hooks'
import { Frame } from './frame.tsx'
import { type Who, whoIsIn } from './session.ts'
import { SignIn } from './sign-in.tsx'

type State = { kind: 'asking' } | { kind: 'out' } | { kind: 'in'; who: Who } | { kind: 'failed'; message: string }

export function App() {
  const [state, setState] = useState<State>({ kind: 'asking' })
  useEffect(() => {
    whoIsIn().then(
      (who) => setState(who === null ? { kind: 'out' } : { kind: 'in', who }),
      (error: Error) => setState({ kind: 'failed', message: error.message }),
    )
  }, [])
  if (state.kind === 'asking') return <p class="waiting">Loading…</p>
  if (state.kind === 'failed') return <p class="waiting">{state.message}</p>
  if (state.kind === 'out') return <SignIn onIn={(who) => setState({ kind: 'in', who })} />
  return <Frame who={state.who} onOut={() => setState({ kind: 'out' })} />
}
