/** Chooses which operations are shown. */
import { Field } from '../parts/controls.tsx'
import { useLoaded } from '../parts/loading.ts'

export interface Wanted {
  /** Empty: any. */
  account: string
  type: string
  /** `pending`, or how it ended. */
  outcome: string
  model: string
  /** Seconds back from now; empty: all that are kept. */
  span: string
}

export const everything: Wanted = { account: '', type: '', outcome: '', model: '', span: '' }

/** @param nowS unix time @returns the parameters of a list */
export function queryOf({ account, type, outcome, model, span }: Wanted, nowS: number): URLSearchParams {
  const parameters = {
    account,
    type,
    model,
    ...(outcome === 'pending' ? { state: 'pending' } : { outcome }),
    start_time: span === '' ? '' : String(nowS - Number(span)),
  }
  return new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''))
}

interface FiltersProps {
  wanted: Wanted
  isAdmin: boolean
  onChange: (wanted: Wanted) => void
}

export function Filters({ wanted, isAdmin, onChange }: FiltersProps) {
  const models = useLoaded<{ data: { id: string; task: string; root: string }[] }>('/v1/models')
  const accounts = useLoaded<{ data: { name: string }[] }>(isAdmin ? '/console/api/admin/accounts' : null)
  const speaking = (models.value?.data ?? []).filter(({ id, task, root }) => id === root && task === 'text-to-speech')
  const choose = (name: keyof Wanted) => (value: string) => onChange({ ...wanted, [name]: value })
  return (
    <div class="filters">
      {isAdmin ? (
        <Select
          label="Account"
          value={wanted.account}
          options={[['', 'All accounts'], ...(accounts.value?.data ?? []).map(({ name }) => [name, name] as const)]}
          onChange={choose('account')}
        />
      ) : null}
      <Select label="Outcome" value={wanted.outcome} options={outcomes} onChange={choose('outcome')} />
      <Select label="Kind" value={wanted.type} options={kinds} onChange={choose('type')} />
      <Select
        label="Model"
        value={wanted.model}
        options={[['', 'All models'], ...speaking.map(({ id }) => [id, id] as const)]}
        onChange={choose('model')}
      />
      <Select label="Within" value={wanted.span} options={spans} onChange={choose('span')} />
    </div>
  )
}

const outcomes = [
  ['', 'Any'],
  ['pending', 'Running'],
  ['completed', 'Completed'],
  ['cancelled', 'Cancelled'],
  ['stream_failed', 'Stream failed'],
  ['failed', 'Failed'],
  ['not_accepted', 'Not accepted'],
] as const

const kinds = [
  ['', 'Any'],
  ['speech', 'Speech'],
  ['clone', 'Clones'],
] as const

const spans = [
  ['', 'Any time'],
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['21600', '6 hours'],
] as const

interface SelectProps {
  label: string
  value: string
  options: readonly (readonly [string, string])[]
  onChange: (value: string) => void
}

export const Select = ({ label, value, options, onChange }: SelectProps) => (
  <Field label={label}>
    {(id) => (
      <select id={id} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {options.map(([option, words]) => (
          <option key={option} value={option}>
            {words}
          </option>
        ))}
      </select>
    )}
  </Field>
)
