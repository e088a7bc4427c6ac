/** What an engine reports about itself: for readiness, the console, `ps` and the removal of models. */
import type { Task } from '../../domain/card.ts'

export type EngineState = 'stopped' | 'starting' | 'ready' | 'failed'

export interface EngineStatus {
  task: Task
  state: EngineState
  pid: number | null
  /** Where inference runs, and the reason if that was not requested. */
  device: string
  deviceReason: string | null
  activeStreams: number
  /** Models being loaded; it may be unable to report the others meanwhile. */
  loading: readonly string[]
  /** Models that requests use or wait for. */
  inUse: readonly string[]
  /** Models that could not be loaded when that was last tried, and why. */
  failed: readonly { id: string; reason: string }[]
  restarts: number
  /** How often it was ended, or a piece of its work, because of what took too long. */
  stalls: Readonly<Record<'silent' | 'slow' | 'deaf' | 'loading', number>>
  /** The last crash in the child's own words. */
  lastError: string | null
  residentBytes: number | null
  /** Of its graphics card, by all programs; null: it runs on none, or the values are unknown. */
  deviceMemory: { usedBytes: number; totalBytes: number } | null
  models: readonly {
    id: string
    device: string
    memoryBytes: number
    activeStreams: number
    /** null: in use, or kept forever. */
    idleMsLeft: number | null
  }[]
}
