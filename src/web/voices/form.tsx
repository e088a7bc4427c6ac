/** A voice's name, description and labels, changed by its owner; an administrator's may be public. */
import { announce } from '../parts/announce.tsx'
import { send } from '../api.ts'
import { Ask } from '../parts/dialog.tsx'
import { Field } from '../parts/controls.tsx'
import type { Voice } from '../speak/options.tsx'

interface FormProps {
  voice: Voice
  /** Whether it may be made public. */
  mayPublish: boolean
  onClose: () => void
  onChanged: () => void
}

export function VoiceForm({ voice, mayPublish, onClose, onChanged }: FormProps) {
  const save = async (given: FormData) => {
    const description = String(given.get('description'))
    const name = String(given.get('name'))
    const labels = labelsOf(String(given.get('labels')))
    const shared = mayPublish ? { public: given.has('public') } : {}
    const change = { name, description: description === '' ? null : description, labels, ...shared }
    await send('PATCH', `/v1/voices/${voice.voice_id}`, change)
    onClose()
    onChanged()
    announce(`${name} was saved.`)
  }
  return (
    <Ask title={`Edit ${voice.name}`} action="Save" busy="Saving…" onYes={save} onClose={onClose}>
      <Field label="Name">
        {(id) => <input id={id} name="name" defaultValue={voice.name} required maxLength={100} autofocus dir="auto" />}
      </Field>
      <Field label="Description">
        {(id) => (
          <textarea
            id={id}
            class="low"
            name="description"
            defaultValue={voice.description ?? ''}
            maxLength={500}
            dir="auto"
          />
        )}
      </Field>
      <Field label="Labels" hint="One per line: name = value">
        {(id) => <textarea id={id} class="low" name="labels" defaultValue={linesOf(voice.labels)} dir="auto" />}
      </Field>
      {mayPublish ? (
        <label class="check">
          <input type="checkbox" name="public" defaultChecked={voice.is_public} /> Public: every account can use it
        </label>
      ) : null}
    </Ask>
  )
}

const linesOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name} = ${value}`)
    .join('\n')

function labelsOf(lines: string): Record<string, string> {
  const pairs = lines.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    return at < 1 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()]]
  })
  return Object.fromEntries(pairs)
}
