/** Shows how an operation ended, as a tag. */
import { outcomeWords } from './record.ts'

export const Outcome = ({ outcome }: { outcome: string | null }) => (
  <span class={kindOf(outcome)}>{outcomeWords(outcome)}</span>
)

function kindOf(outcome: string | null): string {
  if (outcome === null) return 'tag busy'
  if (outcome === 'completed') return 'tag good'
  return outcome === 'cancelled' ? 'tag' : 'tag bad'
}
