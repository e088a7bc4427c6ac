/** What several pages are made of. */
import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

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

interface HeadProps {
  title: string
  about?: string
  children?: ComponentChildren
}

export const Head = ({ title, about, children }: HeadProps) => (
  <div class="head">
    <div>
      <h1>{title}</h1>
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

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** The browser's own dialog: it keeps the focus inside and closes on Escape. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => place.current?.showModal(), [])
  return (
    <dialog ref={place} aria-labelledby={id} onClose={onClose}>
      <div class="body">
        <div class="row apart">
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={() => place.current?.close()}>
            ✕
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}

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
