/** Finds which installed models cannot be used, and what the machine can do nevertheless. */
import type { Task } from '../domain/card.ts'
import { type ModelTrouble, notLoaded } from '../domain/model-trouble.ts'
import type { Catalog } from './ports.ts'
import type { EngineStatus } from './ports/engines.ts'

export interface ModelStanding {
  troubles: readonly ModelTrouble[]
  /** What models without known trouble can do. */
  able: ReadonlySet<Task>
}

/** @param engines of both tasks, as far as there are any */
export function modelStanding(catalog: Catalog, engines: readonly EngineStatus[]): ModelStanding {
  // A model that one device failed to load may be loaded on another.
  const loaded = new Set(engines.flatMap(({ models }) => models.map(({ id }) => id)))
  const failed = engines.flatMap(({ task, failed }) =>
    failed.filter(({ id }) => !loaded.has(id)).map(({ id, reason }) => ({ id, task, words: notLoaded(id, reason) })),
  )
  const byId = new Map([...failed, ...catalog.broken()].map((trouble) => [trouble.id, trouble]))
  const isAble = (task: Task) => catalog.ranked(task).some(({ id }) => !byId.has(id))
  const tasks: readonly Task[] = ['text-to-speech', 'automatic-speech-recognition']
  return { troubles: [...byId.values()], able: new Set(tasks.filter(isAble)) }
}
