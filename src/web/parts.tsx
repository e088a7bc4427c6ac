/** What several pages are made of. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

interface FieldProps {
  label: string
  hint?: string
  wide?: boolean
  /** Is given the id that the label names. */
  children: (id: string) => ComponentChildren
}

export function Field({ label, hint, wide, children }: FieldProps) {
  const id = useId()
  return (
    <div class={wide ? 'field wide' : 'field'}>
      <label for={id}>{label}</label>
      {children(id)}
      {hint === undefined ? null : <span class="hint">{hint}</span>}
    </div>
  )
}

export const Problem = ({ error }: { error: Error | null }) =>
  error === null ? null : (
    <p class="error" role="alert">
      {error.message}
    </p>
  )

/** In the place of what is being asked for; nothing where that failed, for then the error is shown. */
export const Waiting = ({ error }: { error: Error | null }) =>
  error === null ? (
    <p class="loading" role="status">
      Loading…
    </p>
  ) : null

interface HeadProps {
  title: string
  about?: string
  children?: ComponentChildren
}

export const Head = ({ title, about, children }: HeadProps) => (
  <div class="head">
    <div>
      <h1 tabIndex={-1}>{title}</h1>
      {about === undefined ? null : <p>{about}</p>}
    </div>
    {children}
  </div>
)

export const Facts = ({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="facts">
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)

interface ChoiceProps<T extends string> {
  label: string
  value: T
  options: readonly (readonly [T, string])[]
  onChange: (value: T) => void
}

/** A few things of which one is chosen, all in sight. */
export const Choice = <T extends string>({ label, value, options, onChange }: ChoiceProps<T>) => (
  <div class="tabs" role="group" aria-label={label}>
    {options.map(([option, text]) => (
      <button key={option} type="button" aria-pressed={option === value} onClick={() => onChange(option)}>
        {text}
      </button>
    ))}
  </div>
)
