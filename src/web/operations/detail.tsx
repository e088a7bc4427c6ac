/** One operation with everything that is known of it; one that is still running can be cancelled. */
import { useState } from 'preact/hooks'
import { send } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { Facts, Problem } from '../parts/controls.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { count, dollars, duration, moment } from '../parts/format.ts'
import { Snippet } from '../parts/snippet.tsx'
import { mayAdminister, seesMoney, type Who } from '../session.ts'
import { Outcome } from './outcome.tsx'
import { type OperationRecord, operationsPath } from './record.ts'

interface DetailProps {
  operation: OperationRecord
  who: Who
  onClose: () => void
  onChanged: () => void
}

export function Detail({ operation, who, onClose, onChanged }: DetailProps) {
  const [problem, setProblem] = useState<Error | null>(null)
  const { id, type, outcome, error } = operation
  const cancel = async () => {
    setProblem(null)
    try {
      await send('POST', `${operationsPath(mayAdminister(who))}/${id}/cancel`)
      onChanged()
      announce('The operation is being cancelled.')
    } catch (cause) {
      setProblem(cause as Error)
    }
  }
  return (
    <Dialog title={type === 'speech' ? 'Speech' : 'Clone'} onClose={onClose}>
      <div class="row">
        <Outcome outcome={outcome} />
        <span class="hint">{moment(operation.created_at)}</span>
      </div>
      {error === null ? null : (
        <p class="error">
          {error.message} <code>{error.code}</code>
        </p>
      )}
      <Facts facts={factsOf(operation, who)} />
      <Snippet label="Id, the X-Request-Id of the answer" text={id} />
      <Problem error={problem} />
      {outcome === null ? (
        <div class="row">
          <button class="danger" onClick={() => void cancel()}>
            Cancel this operation
          </button>
        </div>
      ) : null}
    </Dialog>
  )
}

function factsOf(operation: OperationRecord, who: Who): [string, string][] {
  const { type, outcome, charged_micros: charged, price_micros: price, expires_at: expiresAt } = operation
  const facts: [string, string | null | undefined][] = [
    ['Account', operation.account],
    ['Key', operation.key],
    ['Model', operation.model],
    ['Voice', operation.voice_id],
    ['Characters', type === 'speech' ? count(operation.input_chars) : null],
    ['Waited', span(operation.wait_ms)],
    ['First audio after', span(operation.first_audio_ms)],
    ['Took', span(operation.duration_ms)],
    [outcome === null ? 'Reserved' : 'Charged', seesMoney(who) ? dollars(charged) : null],
    ['Price', seesMoney(who) && price !== charged ? dollars(price) : null],
    ['Record is kept until', expiresAt === null ? null : moment(expiresAt)],
  ]
  return facts.filter((fact): fact is [string, string] => typeof fact[1] === 'string')
}

/** Below a second in milliseconds: that is where first audio is. */
function span(ms: number | null | undefined): string | null {
  if (ms === null || ms === undefined) return null
  return ms < 1000 ? `${count(ms)} ms` : duration(ms / 1000)
}
