/** Asks before a model is downloaded or removed. */
import { send } from '../api.ts'
import { announce } from '../parts/announce.tsx'
import { Ask } from '../parts/dialog.tsx'
import { bytes } from '../parts/format.ts'
import { type Model, modelsPath } from './record.ts'

interface DialogProps {
  model: Model
  onClose: () => void
  onChanged: () => void
}

export function PullDialog({ model: { id, name, license }, onClose, onChanged }: DialogProps) {
  const pull = async () => {
    await send('POST', `${modelsPath}/${id}/pull`)
    onClose()
    onChanged()
    announce(`${name} is being downloaded.`)
  }
  return (
    <Ask title={`Install ${name}`} action="Install" onYes={pull} onClose={onClose}>
      <p>
        <strong>{license.name}.</strong> {license.attribution}
      </p>
      {license.limits === null ? null : <p class="note">{license.limits}</p>}
    </Ask>
  )
}

export function RemoveDialog({ model: { id, name, disk_bytes: held }, onClose, onChanged }: DialogProps) {
  const remove = async () => {
    const { freed_bytes: freed } = await send<{ freed_bytes: number }>('DELETE', `${modelsPath}/${id}`)
    onClose()
    onChanged()
    announce(`${name} was removed; ${bytes(freed)} freed.`)
  }
  return (
    <Ask
      title={`Remove ${name}?`}
      action="Remove model"
      busy="Removing…"
      refusal="Cancel"
      isDestructive
      onYes={remove}
      onClose={onClose}
    >
      <p>
        It uses {bytes(held)} on disk; files shared with other models stay. Voices cloned with it stay, and work again
        once it is back.
      </p>
    </Ask>
  )
}
