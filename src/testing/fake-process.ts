/** What both fake engines have in common: they record their requests and report a status that a test may change. */
import type { Task } from '../domain/card.ts'
import type { EngineStatus } from '../service/ports/engines.ts'

export abstract class FakeProcess {
  protected abstract readonly task: Task
  /** Running orders. */
  active = 0
  /** Differences from the default status. */
  known: Partial<EngineStatus> = {}

  /** Models that were to be loaded in advance, before the first request. */
  readonly warmed: string[] = []

  async start(warmModel: string | null): Promise<void> {
    if (warmModel !== null) this.warmed.push(warmModel)
  }

  readonly dismissed: string[] = []

  dismiss(model: string): void {
    this.dismissed.push(model)
  }

  async engines(): Promise<readonly EngineStatus[]> {
    return [this.status()]
  }

  status(): EngineStatus {
    return {
      task: this.task,
      state: 'ready',
      pid: null,
      device: 'cpu',
      deviceReason: null,
      activeStreams: this.active,
      loading: [],
      inUse: [],
      failed: [],
      restarts: 0,
      stalls: { silent: 0, slow: 0, deaf: 0, loading: 0 },
      lastError: null,
      residentBytes: null,
      deviceMemory: null,
      models: [],
      ...this.known,
    }
  }
}
