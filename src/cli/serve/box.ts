/** A server as one box among others: what it sends, what it receives, and what it reports about itself. */
import type { Card, Task } from '../../domain/card.ts'
import type { ModelTrouble } from '../../domain/model-trouble.ts'
import type { ServerStatus } from '../../http/admin-socket.ts'
import { BoxKeeper, type BoxWork } from '../../service/box-keeper.ts'
import type { Catalog } from '../../service/ports.ts'
import type { BoxNews, BoxReport } from '../../service/ports/boxes.ts'
import type { Shared } from './records.ts'
import type { Service, World } from './wiring.ts'

/** How far the counts of boxes may differ. */
const tellRequestsEveryMs = 1000
/** Subjects in one message: it may be 7000 bytes long. */
const subjectsTold = 100

/** What a box reports about itself, without asking the database. */
export type Describe = () => Promise<Omit<ServerStatus, 'pendingOperations' | 'boxes'>>

export function boxKeeper(shared: Shared, world: World, service: Service, describe: Describe): BoxKeeper {
  const { speech, clones, transcriptions, previews, allowances } = service
  const kinds = [speech, clones, transcriptions]
  const cancel = (id: string): void => kinds.forEach((live) => live.cancel(id))
  // A snapshot: work that starts later is not in it.
  const work = (): BoxWork => {
    const ids: ReadonlySet<string> = new Set(kinds.flatMap((live) => live.liveIds))
    const recorded: ReadonlySet<string> = new Set(kinds.flatMap((live) => live.recordedIds))
    return { ids: () => ids, recordedIds: () => recorded, cancel }
  }
  const onNews = (news: BoxNews): void => {
    if (news.kind === 'cancel') cancel(news.operationId)
    else if (news.kind === 'requests') allowances.note(news.counts)
    else
      previews.forget(news.voiceId).catch((error: unknown) => service.report('a preview could not be removed', error))
  }
  const report = async (): Promise<BoxReport> => {
    const { version, url, readiness, queue, engines } = await describe()
    const running = engines.map(({ task, device, state, activeStreams }) => ({ task, device, state, activeStreams }))
    const { catalog } = world
    const models = catalog.cards().flatMap((card) => (catalog.isInstalled(card.id) ? [card.id] : []))
    return { version, url: url || null, readiness, queue, engines: running, models }
  }
  return new BoxKeeper({ ...shared, timer: world.timer, log: world.log, work, onNews, report }, world.clock)
}

/** Reports to the other boxes once a second what accounts took here, so that limits hold over all of them. */
export function shareRequests({ boxes }: Shared, { timer }: World, { allowances }: Service): () => void {
  let cancel = () => {}
  let isStopped = false
  allowances.share()
  const next = () => {
    cancel = timer.after(tellRequestsEveryMs, async () => {
      const counts = Object.entries(allowances.untold())
      for (let from = 0; from < counts.length; from += subjectsTold) {
        const some = Object.fromEntries(counts.slice(from, from + subjectsTold))
        await boxes.tell({ kind: 'requests', counts: some })
      }
      if (!isStopped) next()
    })
  }
  next()
  return () => {
    isStopped = true
    cancel()
  }
}

/** The models of this server, which also knows what others have. */
export class SharedCatalog implements Catalog {
  readonly #own: Catalog
  /** Known once the server is a box. */
  others: (cardId: string) => readonly string[] = () => []

  constructor(own: Catalog) {
    this.#own = own
  }

  cards(): readonly Card[] {
    return this.#own.cards()
  }
  isInstalled(cardId: string): boolean {
    return this.#own.isInstalled(cardId)
  }
  ranked(task: Task): Card[] {
    return this.#own.ranked(task)
  }
  best(task: Task): Card | null {
    return this.#own.best(task)
  }
  elsewhere(cardId: string): readonly string[] {
    return this.others(cardId)
  }
  broken(): readonly ModelTrouble[] {
    return this.#own.broken()
  }
}
