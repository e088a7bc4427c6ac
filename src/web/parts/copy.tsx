/** Copying a text. Browsers keep the clipboard from pages that came over plain http; there the old way still works. */
import { useState } from 'preact/hooks'

interface CopyProps {
  text: string
  kind: string
  /** For screen readers, where several can be copied. */
  what?: string
}

export function Copy({ text, kind, what }: CopyProps) {
  const [done, setDone] = useState<boolean | null>(null)
  const copy = async (beside: HTMLElement) => setDone(await toClipboard(text, beside))
  return (
    <>
      <button type="button" class={kind} onClick={({ currentTarget }) => void copy(currentTarget)}>
        {done === true ? 'Copied' : 'Copy'}
        {what === undefined ? null : <span class="unseen"> {what}</span>}
      </button>
      <span class="hint" role="status">
        {done === false ? 'The browser did not allow it: select the text and press Ctrl+C.' : ''}
      </span>
    </>
  )
}

/** @param beside where a field may be put for a moment: while a dialog is open, nothing outside it can be selected */
export async function toClipboard(text: string, beside: HTMLElement): Promise<boolean> {
  if (navigator.clipboard !== undefined) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'unseen'
  beside.after(field)
  field.select()
  const isCopied = document.execCommand('copy')
  field.remove()
  beside.focus()
  return isCopied
}
