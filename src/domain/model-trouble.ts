/** A model that this machine has and cannot use: told in the same words wherever it is told. */
import type { Task } from './card.ts'

export interface ModelTrouble {
  id: string
  task: Task
  /** One sentence without its full stop, and without secrets of the machine: anybody may read it. */
  words: string
}

export const notLoaded = (id: string, reason: string): string => `${id} could not be loaded: ${reason}`
