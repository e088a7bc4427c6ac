/** The models of a data folder as the commands and the server see them. */
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../../package.json' with { type: 'json' }
import { CardCatalog } from '../../catalog/catalog.ts'
import type { OnEvent } from '../../catalog/install/events.ts'
import { Hub, publicHub } from '../../catalog/install/hub.ts'
import type { PullParts } from '../../catalog/install/pull.ts'
import { InstalledModels } from '../../catalog/installed.ts'
import { OwnModels } from '../../catalog/own.ts'
import { ModelError } from '../../catalog/model-error.ts'
import { ModelsFolder } from '../../catalog/models-folder.ts'
import { type Config, hubEnv } from '../../config.ts'
import type { Card, Task } from '../../domain/card.ts'
import { systemRandom } from '../../domain/id.ts'
import type { ModelTrouble } from '../../domain/model-trouble.ts'
import { systemClock, systemTimer } from '../../domain/time.ts'
import { tryFileLock } from '../../store/lock.ts'
import { onInterrupt } from '../terminal/interrupt.ts'
import { Failure } from '../terminal/terminal.ts'

/** A hub has to look up a requested file; a host that sends it has no reason to be silent. */
const answerMs = 60_000
const stallMs = 30_000

export const modelsFolder = ({ dataDir }: Pick<Config, 'dataDir'>): ModelsFolder =>
  new ModelsFolder(join(dataDir, 'models'))

/**
 * Looks up what is installed at every call, because it may change while this process runs.
 * @param onCard whether models of this task run on a graphics card now; absent: none do
 */
export function installedCatalog(
  config: Pick<Config, 'dataDir'>,
  known: readonly Card[],
  onCard?: (task: Task) => boolean,
): CardCatalog {
  const folder = modelsFolder(config)
  const installed = new InstalledModels(folder)
  const own = new OwnModels(folder, known)
  let all: { own: readonly Card[]; cards: readonly Card[] } = { own: [], cards: known }
  const cards = () => {
    const brought = own.cards()
    if (brought !== all.own) all = { own: brought, cards: brought.length === 0 ? known : [...known, ...brought] }
    return all.cards
  }
  return new CardCatalog(
    cards,
    (card) => installed.has(card),
    onCard,
    () => brokenModels(installed, cards()),
  )
}

/** The program's cards, and those of the models that the user brought. */
export const allCards = (config: Pick<Config, 'dataDir'>, known: readonly Card[]): readonly Card[] => [
  ...known,
  ...new OwnModels(modelsFolder(config), known).cards(),
]

/** The remedy for an incomplete model. */
export const mending = ({ id, like }: Pick<Card, 'id' | 'like'>): string =>
  like === undefined ? `myna models pull ${id}` : `myna models import PATH --as ${id} --like ${like}`

/** Models that exist here but are incomplete, or not those that this program expects. */
const brokenModels = (installed: InstalledModels, cards: readonly Card[]): ModelTrouble[] =>
  cards.flatMap((card) => {
    const words = installed.trouble(card)
    return words === null ? [] : [{ id: card.id, task: card.task, words }]
  })

/** The source of files. @throws Failure if HF_ENDPOINT is not an address */
export function hubEndpoint(): string {
  const given = hubEnv().endpoint ?? publicHub
  const url = URL.parse(given)
  if (url !== null && /^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
  throw new Failure(`HF_ENDPOINT=${given} is not a hub address. Write it as ${publicHub}`, 'bad_setting')
}

/** What is needed to change the installed models. @throws Failure as `hubEndpoint` */
export function installationParts(config: Config, onEvent: OnEvent): PullParts {
  const folder = modelsFolder(config)
  const { token } = hubEnv()
  const userAgent = `myna/${version}`
  return {
    folder,
    hub: new Hub({ endpoint: hubEndpoint(), token, timer: systemTimer, answerMs, userAgent }),
    clock: systemClock,
    timer: systemTimer,
    random: systemRandom,
    stallMs,
    lock: () => tryFileLock(join(folder.path, 'install.lock')),
    freeBytes: (path) => {
      const { bavail, bsize } = statfsSync(path)
      return bavail * bsize
    },
    onEvent,
  }
}

/**
 * Runs work that Ctrl-C or `kill` ends in order; a second one ends the process at once.
 * @param leaving what is said when it was ended so
 * @throws Failure, whatever `work` throws
 */
export async function interruptible<T>(leaving: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const stopped = new Failure(leaving, 'interrupted')
  const ignore = onInterrupt(() => stop.abort(stopped))
  try {
    return await work(stop.signal)
  } catch (error) {
    throw error instanceof ModelError ? new Failure(error.message, error.code) : error
  } finally {
    ignore()
  }
}

// Finds a model by what the user typed.
/** @throws Failure when no model is called so */
export function findCard(cards: readonly Card[], id: string): Card {
  const card = cards.find((known) => known.id === id)
  if (card !== undefined) return card
  const similar = cards.filter((known) => known.id.includes(id.toLowerCase())).map((known) => known.id)
  const hint = similar.length === 0 ? 'List the models with: myna models list' : `Did you mean ${similar.join(', ')}?`
  throw new Failure(`There is no model '${id}'. ${hint}`, 'model_not_found')
}
