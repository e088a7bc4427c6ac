/** A model that is installed but cannot be used, described in the same words everywhere. */
import type { Task } from './card.ts'

export interface ModelTrouble {
  id: string
  task: Task
  /** One sentence without its full stop and without secrets of the machine: anyone may read it. */
  words: string
}

export const notLoaded = (id: string, reason: string): string => `${id} could not be loaded: ${reason}`
