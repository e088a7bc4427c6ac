/** Components that several pages use. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { ApiError } from '../api.ts'
import { isUnreachable, type Loaded } from './loading.ts'
import { duration } from './format.ts'

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

/** With the wait that the server asks for, and the id for its log if the server is at fault. */
export const Problem = ({ error }: { error: Error | null }) =>
  error === null ? null : (
    <p class="error" role="alert">
      {error.message}
      {error instanceof ApiError && error.retryAfterMs !== null
        ? ` (After ${duration(error.retryAfterMs / 1000)}.)`
        : ''}
      {error instanceof ApiError && error.status >= 500 && error.requestId !== null ? (
        <>
          {' '}
          <code>{error.requestId}</code>
        </>
      ) : null}
    </p>
  )

/** The state of a page's request: loading, or the error with a way to try again. Empty once the data is there. */
export function Progressing({ of }: { of: readonly Loaded<unknown>[] }) {
  const failed = of.find(({ error }) => error !== null)
  if (failed === undefined) {
    return of.every(({ value }) => value !== null) ? null : (
      <p class="loading" role="status">
        Loading…
      </p>
    )
  }
  return (
    <div class="row">
      <Problem error={failed.error} />
      {isUnreachable(failed.error) ? <span class="hint">This page keeps trying.</span> : null}
      <button type="button" class="small" onClick={() => of.forEach(({ reload }) => reload())}>
        Try again
      </button>
    </div>
  )
}

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
