/**
 * Dialogs: the browser's own, which keep the focus inside and return it. A destructive action is confirmed by a button
 * that names it and never has the focus first: one Enter too many changes nothing.
 */
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Problem } from './controls.tsx'
import { Icon } from './icon.tsx'

interface DialogProps {
  title: string
  onClose: () => void
  /** An `alertdialog` interrupts: for what cannot be taken back. */
  role?: 'dialog' | 'alertdialog'
  /** Escape and the cross do nothing while something is running. */
  isHeld?: boolean
  children: ComponentChildren
}

/** The focus goes to what is marked `autofocus`, or to the dialog itself, so that it is read from its title on. */
export function Dialog({ title, onClose, role = 'dialog', isHeld = false, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  const id = useId()
  const isOpen = useRef(false)
  useLayoutEffect(() => {
    const own = place.current
    if (own === null) return
    own.showModal()
    isOpen.current = true
    const first = own.querySelector<HTMLElement>('[autofocus]') ?? own
    first.focus()
    // Closed before it is removed, because only then does the browser return the focus.
    return () => {
      isOpen.current = false
      own.close()
    }
  }, [])
  const leave = () => {
    if (isOpen.current && !isHeld) onClose()
  }
  const onEscape = (event: Event) => {
    event.preventDefault()
    leave()
  }
  return (
    <dialog
      ref={place}
      role={role}
      tabIndex={-1}
      aria-labelledby={id}
      aria-describedby={role === 'alertdialog' ? `${id}-what` : undefined}
      onCancel={onEscape}
      onClose={leave}
    >
      <div class="body">
        <div class="title">
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet icon" aria-label="Close" onClick={leave}>
            <Icon name="close" />
          </button>
        </div>
        <div class="what" id={`${id}-what`}>
          {children}
        </div>
      </div>
    </dialog>
  )
}

interface AskProps {
  title: string
  /** Label of the confirming button: what it does, not "OK". */
  action: string
  /** Label of the same button while it is being done. */
  busy?: string
  refusal?: string
  isDestructive?: boolean
  /** Given the fields inside. It closes the dialog itself; what it throws is shown and keeps the dialog open. */
  onYes: (given: FormData) => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}

/** A question with its fields, asked once: a second press while it is being done does nothing. */
export function Ask(props: AskProps) {
  const { title, action, busy = 'One moment…', refusal = 'Cancel', isDestructive = false, onClose, children } = props
  const [error, setError] = useState<Error | null>(null)
  const [running, setRunning] = useState(false)
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (running) return
    const given = new FormData(event.currentTarget as HTMLFormElement)
    setError(null)
    setRunning(true)
    try {
      await props.onYes(given)
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setRunning(false)
    }
  }
  return (
    <Dialog title={title} onClose={onClose} role={isDestructive ? 'alertdialog' : 'dialog'} isHeld={running}>
      <form onSubmit={(event) => void submit(event)}>
        {children}
        <Problem error={error} />
        <div class="row">
          <button class={isDestructive ? 'danger' : 'primary'} aria-disabled={running}>
            {running ? busy : action}
          </button>
          <button type="button" autofocus={isDestructive} aria-disabled={running} onClick={() => running || onClose()}>
            {refusal}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
