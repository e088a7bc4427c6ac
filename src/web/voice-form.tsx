/** A voice's name, description and labels, changed by its owner. */
import { useState } from 'preact/hooks'
import { send } from './api.ts'
import { Dialog, Field, Problem } from './parts.tsx'
import type { Voice } from './speak-options.tsx'

interface FormProps {
  voice: Voice
  onClose: () => void
  onChanged: () => void
}

export function VoiceForm({ voice, onClose, onChanged }: FormProps) {
  const [error, setError] = useState<Error | null>(null)
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement)
    const description = String(given.get('description'))
    const change = {
      name: String(given.get('name')),
      description: description === '' ? null : description,
      labels: labelsOf(String(given.get('labels'))),
    }
    void send('PATCH', `/v1/voices/${voice.voice_id}`, change).then(() => {
      onClose()
      onChanged()
    }, setError)
  }
  return (
    <Dialog title={`Edit ${voice.name}`} onClose={onClose}>
      <form onSubmit={submit}>
        <Field label="Name">
          {(id) => <input id={id} name="name" defaultValue={voice.name} required maxLength={100} />}
        </Field>
        <Field label="Description">
          {(id) => <input id={id} name="description" defaultValue={voice.description ?? ''} maxLength={500} />}
        </Field>
        <Field label="Labels" hint="One a line: name = value">
          {(id) => <textarea id={id} name="labels" defaultValue={linesOf(voice.labels)} />}
        </Field>
        <Problem error={error} />
        <div class="row">
          <button class="primary">Save</button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  )
}

const linesOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n')

export function labelsOf(lines: string): Record<string, string> {
  const pairs = lines.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]]
  })
  return Object.fromEntries(pairs)
}
