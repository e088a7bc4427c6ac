/**
 * Models, for administrators, by family: each with the one to install on this machine and what is here already in
 * sight, and the rest of the family behind a line.
 */
import { useRef, useState } from 'preact/hooks'
import { Choice, Head, Progressing } from '../parts/controls.tsx'
import { bytes, counted } from '../parts/format.ts'
import { useLoaded } from '../parts/loading.ts'
import type { PageProps } from '../parts/page.ts'
import { ModelCard } from './card.tsx'
import { familyOf } from './families.ts'
import { isHere, type Model, useModels } from './record.ts'

interface Room {
  machine: { disk: { free_bytes: number } | null }
}

export function ModelsPage(_props: PageProps) {
  const loaded = useModels()
  const room = useLoaded<Room>('/console/api/admin/server')
  const { reload } = loaded
  // Together, so that a line that grows does not move what is below it. Without the disk's room, the rest is shown.
  const value = room.value === null && room.error === null ? null : loaded.value
  const all = value?.data ?? []
  const [task, setTask] = useState<'text-to-speech' | 'automatic-speech-recognition'>('text-to-speech')
  const models = all.filter((model) => model.task === task)
  const inSight = useInSight(all)
  const families = [...Map.groupBy(models, ({ architecture }) => architecture)]
  const missing = families.flatMap(([, members]) => members.filter(isMissing))
  return (
    <div class="page">
      <Head title="Models" about="Downloaded from the Hugging Face hub at pinned commits and verified by hash.">
        <Choice
          label="Task"
          value={task}
          options={[
            ['text-to-speech', 'Speech'],
            ['automatic-speech-recognition', 'Transcription'],
          ]}
          onChange={setTask}
        />
      </Head>
      <Progressing of={room.error === null ? [loaded, room] : [loaded]} />
      {value === null ? null : <p class="hint numbers">{roomOf(all, room.value)}</p>}
      {families.map(([architecture, members]) => (
        <Family
          key={architecture}
          architecture={architecture}
          models={members}
          inSight={inSight}
          primary={missing[0]?.id}
          onChanged={reload}
        />
      ))}
    </div>
  )
}

const isMissing = ({ recommended, state, pull }: Model): boolean => recommended && state === 'absent' && pull === null

function roomOf(models: readonly Model[], room: Room | null): string {
  const held = models.reduce((sum, { disk_bytes: size }) => sum + size, 0)
  const count = models.filter(({ state }) => state === 'installed').length
  const disk = room?.machine.disk ?? null
  return [
    count === 0 ? 'Nothing is downloaded yet' : `${counted(count, 'model')} installed: ${bytes(held)}`,
    ...(disk === null ? [] : [`${bytes(disk.free_bytes)} free on the disk`]),
  ].join(', ')
}

/** What is shown at once is decided when the page is opened, so that a pressed card does not jump away. */
function useInSight(models: readonly Model[]): ReadonlySet<string> {
  const first = useRef<ReadonlySet<string>>(new Set())
  if (first.current.size === 0) {
    first.current = new Set(models.filter((model) => model.recommended || isHere(model)).map(({ id }) => id))
  }
  return first.current
}

interface FamilyProps {
  architecture: string
  models: readonly Model[]
  inSight: ReadonlySet<string>
  /** The id of the model whose button stands out. */
  primary: string | undefined
  onChanged: () => void
}

function Family({ architecture, models, inSight, primary, onChanged }: FamilyProps) {
  const { name, about } = familyOf(architecture)
  const card = (model: Model) => (
    <ModelCard key={model.id} model={model} isPrimary={model.id === primary} onChanged={onChanged} />
  )
  const shown = models.filter(({ id }) => inSight.has(id)).toSorted(recommendedFirst)
  const others = models.filter(({ id }) => !inSight.has(id))
  return (
    <section class="card" aria-label={name}>
      <div>
        <h2>{name}</h2>
        <p class="hint">{about}</p>
      </div>
      <div class="models">{shown.map(card)}</div>
      {others.length === 0 ? null : (
        <details>
          <summary>
            {counted(others.length, 'more model')} of {name}
          </summary>
          <div class="models">{others.map(card)}</div>
        </details>
      )}
    </section>
  )
}

const recommendedFirst = (a: Model, b: Model): number => Number(b.recommended) - Number(a.recommended)
