/** The limits of one account alone. An empty field means the server's own setting. */
import { Field } from '../parts/controls.tsx'

export type LimitName =
  | 'speech_concurrency'
  | 'transcription_concurrency'
  | 'speech_requests_per_minute'
  | 'transcription_requests_per_minute'
  | 'requests_per_minute'

export type Limits = Readonly<Record<LimitName, number | null>>

const fields: readonly (readonly [LimitName, string])[] = [
  ['speech_concurrency', 'Speech at once'],
  ['transcription_concurrency', 'Transcriptions at once'],
  ['speech_requests_per_minute', 'Speech requests a minute'],
  ['transcription_requests_per_minute', 'Transcriptions a minute'],
  ['requests_per_minute', 'Requests a minute'],
]

export const LimitFields = ({ limits }: { limits: Limits }) => (
  <details open={fields.some(([name]) => limits[name] !== null)}>
    <summary>Limits of its own</summary>
    <div class="fields">
      {fields.map(([name, label]) => (
        <Field key={name} label={label}>
          {(id) => (
            <input
              id={id}
              name={name}
              type="number"
              inputMode="numeric"
              min="1"
              step="1"
              placeholder="as the server"
              defaultValue={limits[name] ?? ''}
            />
          )}
        </Field>
      ))}
    </div>
  </details>
)

/** @returns null if none of them changed */
export function changedLimits(given: FormData, now: Limits): Limits | null {
  const value = (name: LimitName) => {
    const text = String(given.get(name) ?? '')
    return text === '' ? null : Number(text)
  }
  const wanted = Object.fromEntries(fields.map(([name]) => [name, value(name)])) as Record<LimitName, number | null>
  return fields.some(([name]) => wanted[name] !== now[name]) ? wanted : null
}
