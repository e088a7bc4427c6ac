/** Chooses which voices are shown: whose, by what words, in which language, of which gender and model. */
import { Choice } from '../parts/controls.tsx'
import type { Voice } from '../speak/options.tsx'
import { type Filters, genderOf, languageName, languageOf, valuesOf } from './voice.ts'

export type Owner = 'all' | 'me' | 'public'

interface FiltersProps {
  owner: Owner
  onOwner: (owner: Owner) => void
  search: string
  onSearch: (search: string) => void
  filters: Filters
  onFilters: (filters: Filters) => void
  /** All of them: only what occurs can be chosen. */
  voices: readonly Voice[]
}

export function VoiceFilters({ owner, onOwner, search, onSearch, filters, onFilters, voices }: FiltersProps) {
  const pick = (name: keyof Filters) => (value: string) => onFilters({ ...filters, [name]: value })
  return (
    <div class="row voice-filters">
      <Choice
        label="Whose voices"
        value={owner}
        options={[
          ['all', 'All'],
          ['me', 'Yours'],
          ['public', 'Public'],
        ]}
        onChange={onOwner}
      />
      <Pick
        label="Language"
        any="Any language"
        value={filters.language}
        values={valuesOf(voices, languageOf)}
        nameOf={languageName}
        onChange={pick('language')}
      />
      <Pick
        label="Gender"
        any="Any gender"
        value={filters.gender}
        values={valuesOf(voices, genderOf)}
        nameOf={(gender) => gender}
        onChange={pick('gender')}
      />
      <Pick
        label="Model"
        any="Any model"
        value={filters.model}
        values={valuesOf(voices, ({ model }) => model)}
        nameOf={(model) => model}
        onChange={pick('model')}
      />
      <div class="search">
        <input
          type="search"
          placeholder="Search names and labels"
          aria-label="Search voices"
          value={search}
          dir="auto"
          onInput={({ currentTarget }) => onSearch(currentTarget.value)}
        />
      </div>
    </div>
  )
}

interface PickProps {
  label: string
  any: string
  value: string
  values: readonly string[]
  nameOf: (value: string) => string
  onChange: (value: string) => void
}

/** Disabled where there is nothing to choose from, so that nothing moves when the voices come. */
const Pick = ({ label, any, value, values, nameOf, onChange }: PickProps) => (
  <select
    class="pick-one"
    aria-label={label}
    value={value}
    disabled={values.length < 2 && value === ''}
    onChange={({ currentTarget }) => onChange(currentTarget.value)}
  >
    <option value="">{any}</option>
    {[...new Set(value === '' ? values : [...values, value])].map((one) => (
      <option key={one} value={one}>
        {nameOf(one)}
      </option>
    ))}
  </select>
)
