/** A clone whose model was removed: it is silent until it is made again from the clip that was kept. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { get, send } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { Problem } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import type { Voice } from '../speak/options.tsx'

interface RemakeProps {
  voice: Voice
  /** Whether it is the caller's to make again. */
  mayRemake: boolean
  onChanged: () => void
}

interface Operation {
  id: string
  state: 'pending' | 'terminal'
  outcome: string | null
  error: { message: string } | null
}

const lookMs = 700

export function Remake({ voice, mayRemake, onChanged }: RemakeProps) {
  const { isRunning, error, start } = useRemaking(voice, onChanged)
  return (
    <>
      <p class="note">
        The model {voice.model} is not installed any more, so this voice cannot speak.
        {mayRemake ? ' It can be made again from the clip that was kept, free of charge.' : ''}
      </p>
      {isRunning ? <progress aria-label={`Making ${voice.name} again`} /> : null}
      <Problem error={error} />
      {mayRemake ? (
        <div class="row">
          <button class="small" aria-disabled={isRunning} onClick={start}>
            <Icon name="again" /> {isRunning ? 'Making it again…' : 'Make again'}
          </button>
        </div>
      ) : null}
    </>
  )
}

function useRemaking({ voice_id: id, name }: Voice, onChanged: () => void) {
  const [isRunning, setIsRunning] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const isGone = useRef(false)
  useEffect(
    () => () => {
      isGone.current = true
    },
    [],
  )
  const run = async () => {
    let operation = await send<Operation>('POST', `/v1/voices/${id}/remake`)
    while (operation.state === 'pending' && !isGone.current) {
      await new Promise((resolve) => setTimeout(resolve, lookMs))
      operation = await get<Operation>(`/v1/operations/${operation.id}`)
    }
    if (isGone.current) return
    if (operation.outcome !== 'completed') throw new Error(operation.error?.message ?? 'It could not be made again.')
    announce(`${name} is ready again.`)
    onChanged()
  }
  const start = () => {
    if (isRunning) return
    setIsRunning(true)
    setError(null)
    run()
      .catch((cause: Error) => isGone.current || setError(cause))
      .finally(() => isGone.current || setIsRunning(false))
  }
  return { isRunning, error, start }
}
