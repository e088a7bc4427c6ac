/**
 * A run of the simulation: three boxes on one PostgreSQL work for a few accounts, while boxes are killed and
 * partitioned, answers to COMMITs are lost, and the server is killed. The seed decides the choices, but not how the
 * work interleaves, because the connections and the server are real.
 */
import { MynaError } from '../../domain/error.ts'
import { newId } from '../../domain/id.ts'
import { settleSpeech } from '../../domain/operation.ts'
import { SqlAccounts } from '../../store/accounts.ts'
import type { Dialect } from '../../store/database.ts'
import { openPostgres } from '../../store/postgres/postgres.ts'
import { distantPostgres, testPostgres } from '../postgres.ts'
import { Seeded } from '../seeded.ts'
import { Cables } from './cables.ts'
import { BoxesAuditor, type Findings } from './auditor.ts'
import { leaseTimes, nobodyTold, SimulatedBox, type Told } from './box.ts'

export type Guard = 'key index' | 'account lock' | 'lease check'

const removals: Readonly<Record<Guard, string | null>> = {
  'key index': 'ALTER TABLE operations DROP CONSTRAINT one_operation_per_key',
  // A statement of its own: see `withoutLock`.
  'account lock': null,
  // Every lease expires as soon as it is written.
  'lease check': `
    CREATE FUNCTION no_lease() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.lease_until_ms := 0; RETURN NEW; END $$;
    CREATE TRIGGER no_lease BEFORE INSERT OR UPDATE ON boxes FOR EACH ROW EXECUTE FUNCTION no_lease()`,
}

export interface RunOptions {
  seed: number
  steps: number
  /** Whether the database server is sometimes killed too. */
  killsServer: boolean
  /** Removes guards to show that the auditor notices. */
  without?: readonly Guard[]
  /** Whether the server is on its own network, whose cables are unplugged, too. Needs root. */
  hasCables?: boolean
}

const limits = { concurrency: 4, openingMicros: 60_000 }
const accountCount = 3
const priceMicros = 300
const workers = 12
/** This many consecutive requests are likely to name the same key. */
const stepsPerKey = 24

interface Account {
  id: string
  keyId: string
}

/** The address of the database; cables: null if the server is on this machine's own network. */
interface Place {
  server: Awaited<ReturnType<typeof testPostgres>>
  database: string
  cables: Cables | null
}

/** In addition to the run's own. */
const cableCount = 3

class Run {
  readonly told: Told
  readonly #options: RunOptions
  readonly #random: Seeded
  readonly #place: Place
  readonly #accounts: Account[]
  boxes: SimulatedBox[] = []
  #boxCount = 0
  #isServerUp = true
  #stepsLeft: number

  constructor(options: RunOptions, place: Place, accounts: Account[]) {
    this.#options = options
    this.#random = new Seeded(options.seed)
    this.#place = place
    this.#accounts = accounts
    this.#stepsLeft = options.steps
    this.told = nobodyTold(accounts.map(({ id }) => id))
  }

  async addBox(): Promise<void> {
    const number = ++this.#boxCount
    const { server, cables, database } = this.#place
    const cable = 1 + (number % cableCount)
    const wire = { host: cables?.hostOf(cable) ?? '127.0.0.1', port: server.port, cable }
    for (let attempt = 1; ; attempt++) {
      try {
        this.boxes.push(await SimulatedBox.start(`box_${number}`, database, wire, this.told, this.#random))
        return
      } catch (error) {
        // The machine is busy, or the server was just killed. It is started again, as a service manager would do.
        if (attempt === 50) throw error
        await Bun.sleep(100)
      }
    }
  }

  /** Several at a time, until no steps are left. */
  async work(): Promise<void> {
    const one = async () => {
      while (this.#stepsLeft-- > 0) await this.#step()
    }
    await Promise.all(Array.from({ length: workers }, one))
  }

  async #step(): Promise<void> {
    const box = this.#random.pick(this.boxes)
    const account = this.#random.pick(this.#accounts)
    const kind = this.#random.whole(0, 19)
    if (kind < 14) await this.#speak(box, account)
    else if (kind < 16) await this.#credit(box, account)
    else if (kind < 18) await this.#clone(box, account)
    else box.relay.loseCommits(this.#random.whole(1, 2))
  }

  async #speak(box: SimulatedBox, { id: accountId, keyId }: Account): Promise<void> {
    const id = newId('op', Date.now(), this.#random.fill)
    const key = Math.floor(this.#stepsLeft / stepsPerKey).toString(16)
    const keyHash = this.#random.chance(0.5) ? key.replace('-', '').padStart(64, '0') : null
    const order = { operationId: id, accountId, keyId, model: 'hibari', voiceId: 'wren', inputChars: 20, priceMicros }
    const admission = { ...order, keyHash, fingerprint: 'f'.repeat(64), maxPending: limits.concurrency }
    const admitted = await box.ledger.admitSpeech(admission).catch((error: unknown) => this.#notAdmitted(id, error))
    if (admitted === null || box.isDead) return
    this.told.admitted.add(id)
    box.working.set(id, { isCancelled: false })
    if (this.#random.chance(0.3)) await Bun.sleep(this.#random.whole(1, 60))
    const audioSent = await this.#mark(() => box.ledger.markFirstAudio(id))
    if (this.#random.chance(0.1))
      await this.#random
        .pick(this.boxes)
        .boxes.askToCancel(id)
        .catch(() => {})
    const happened = { audioSent, cancelRequested: false, clientGone: this.#random.chance(0.2), failure: null }
    const measures = { inputChars: 20, priceMicros, coveredChars: this.#random.whole(0, 20), pcmBytes: 9600 }
    const cancelRequested = box.working.get(id)?.isCancelled === true
    const settlement = settleSpeech({ ...happened, ...measures, cancelRequested }, 24_000)
    const won = await this.#untilWritten(box, () => box.ledger.settle(id, settlement))
    box.working.delete(id)
    if (won !== null) this.told.settled.set(id, { settlement, won })
  }

  async #clone(box: SimulatedBox, { id: accountId, keyId }: Account): Promise<void> {
    const [id, voiceId] = [newId('op', Date.now(), this.#random.fill), newId('voice', Date.now(), this.#random.fill)]
    const clip = { fileName: 'a', mimeType: 'audio/wav', sizeBytes: 1, durationMs: 1, hash: 'c'.repeat(64) }
    const rules = { isAdmin: false, priceMicros: 500, freeClones: 1, maxVoices: 6, keyHash: null }
    const described = { name: 'Ada', description: null, labels: {}, language: null, aliases: [], consent: null }
    const made = { isPublic: false, model: 'hibari', fidelity: 'full' as const, clip, ...rules, ...described }
    const admitted = await box.ledger
      .admitClone({ operationId: id, voiceId, accountId, keyId, ...made })
      .catch((error: unknown) => this.#notAdmitted(id, error))
    if (admitted === null || box.isDead) return
    this.told.admitted.add(id)
    box.working.set(id, { isCancelled: false })
    if (this.#random.chance(0.4)) {
      await this.#random
        .pick(this.boxes)
        .voices.remove(voiceId, accountId)
        .catch(() => {})
    }
    const won = await this.#untilWritten(box, () => box.ledger.completeClone(id))
    box.working.delete(id)
    if (won !== null) this.told.settled.set(id, { settlement: 'clone', won })
    if (this.#random.chance(0.8)) await box.voices.remove(voiceId, accountId).catch(() => {})
  }

  async #credit(box: SimulatedBox, { id }: Account): Promise<void> {
    const micros = this.#random.whole(1, 2000)
    const given = this.told.creditedMicros.get(id)
    if (given === undefined) return
    given.maybe += micros
    const done = await box.accounts.credit(id, micros).catch(() => null)
    if (done === null) return
    given.maybe -= micros
    given.sure += micros
  }

  /** A rule refused it, so there is no row. Any other error leaves the result unknown. */
  #notAdmitted(id: string, error: unknown): null {
    const unknown = error instanceof MynaError && error.code === 'database_unavailable'
    if (!(error instanceof MynaError)) this.told.errors.push(String(error))
    if (!unknown && error instanceof MynaError) this.told.refused.add(id)
    return null
  }

  async #mark(mark: () => Promise<void>): Promise<boolean> {
    return mark().then(
      () => true,
      () => false,
    )
  }

  /** Like a server: retries as long as necessary, unless the box is dead. @returns null: it is dead */
  async #untilWritten(box: SimulatedBox, write: () => Promise<boolean>): Promise<boolean | null> {
    for (;;) {
      if (box.isDead) return null
      try {
        const won = await write()
        return won
      } catch (error) {
        if (!(error instanceof MynaError)) {
          this.told.errors.push(String(error))
          return null
        }
        await Bun.sleep(50)
      }
    }
  }

  /** Something fails, and is restored later. */
  async trouble(): Promise<void> {
    while (this.#stepsLeft > 0) {
      await Bun.sleep(this.#random.whole(100, 700))
      const kind = this.#random.whole(0, 9)
      if (kind < 3) await this.#killBox()
      else if (kind < 7) await this.#partition()
      else if (this.#options.killsServer && kind === 9) await this.#killServer()
    }
  }

  async #killBox(): Promise<void> {
    const [index] = [this.#random.whole(0, this.boxes.length - 1)]
    const [dead] = this.boxes.splice(index, 1)
    await this.addBox().catch((error: unknown) => {
      if (dead !== undefined) this.boxes.push(dead)
      throw error
    })
    await dead?.kill()
  }

  async #partition(): Promise<void> {
    const { relay, cable } = this.#random.pick(this.boxes)
    const { cables } = this.#place
    const kind = this.#random.whole(0, cables === null ? 2 : 4)
    if (kind > 2) await cables?.pull(cable)
    if (kind === 0) relay.cut()
    if (kind === 1) relay.hold()
    if (kind === 2) relay.delayMs = this.#random.whole(5, 80)
    await Bun.sleep(this.#random.whole(50, 2 * leaseTimes.leaseMs))
    if (kind > 2) await cables?.plug(cable)
    relay.delayMs = 0
    relay.mend()
  }

  async #killServer(): Promise<void> {
    const { server } = this.#place
    this.#isServerUp = false
    await server.kill()
    await Bun.sleep(this.#random.whole(0, 500))
    await server.up()
    this.#isServerUp = true
  }

  get isServerUp(): boolean {
    return this.#isServerUp
  }
}

/** All boxes of this process share the one dialect. @returns a function that restores the lock */
function withoutLock(dialect: Dialect): () => void {
  const { forUpdate } = dialect
  Object.assign(dialect, { forUpdate: '' })
  return () => Object.assign(dialect, { forUpdate })
}

/** @returns what is wrong afterwards, once every lease that could expire has expired */
export async function runBoxes(options: RunOptions): Promise<Findings> {
  if (options.hasCables !== true) {
    const server = await testPostgres()
    return runAt(options, { server, database: await server.create(), cables: null })
  }
  const cables = await Cables.lay(1 + cableCount)
  const server = await distantPostgres({ command: cables.command, host: cables.hostOf(0) })
  try {
    return await runAt(options, { server, database: await server.create(), cables })
  } finally {
    await server.kill()
    await cables.remove()
  }
}

async function runAt(options: RunOptions, place: Place): Promise<Findings> {
  const url = place.server.urlOf(place.database)
  const admin = await openPostgres(url, { connections: 2, patienceMs: 60_000 })
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() }
  const accounts = new SqlAccounts(admin, { clock, random: new Seeded(options.seed ^ 0xacc).fill })
  const made: Account[] = []
  for (let n = 0; n < accountCount; n++) {
    const { id } = await accounts.create({ name: `a${n}`, role: 'user', balanceMicros: limits.openingMicros })
    const order = { accountId: id, name: 'k', scopes: null, expiresAtMs: null, prefix: 'p' }
    made.push({ id, keyId: (await accounts.createKey({ ...order, secretHash: String(n).repeat(64) })).id })
  }
  const without = options.without ?? []
  for (const guard of without) if (removals[guard] !== null) await admin.script(removals[guard])
  const restore = without.includes('account lock') ? withoutLock(admin.dialect) : () => {}
  const run = new Run(options, place, made)
  for (let n = 0; n < 3; n++) await run.addBox()
  const auditor = new BoxesAuditor(url, limits)
  const watching = setInterval(() => run.isServerUp && void auditor.look(), 20)
  try {
    await Promise.all([run.trouble(), run.work()])
  } finally {
    clearInterval(watching)
    restore()
  }
  for (const box of run.boxes) await box.stop()
  // A last box settles what the dead ones left.
  await Bun.sleep(leaseTimes.leaseMs + 100)
  await run.addBox()
  await run.boxes.at(-1)?.stop()
  const findings = await auditor.findings(run.told)
  const pending = await admin.all<{ id: string }>('SELECT id FROM operations WHERE outcome IS NULL')
  await Promise.all([auditor.close(), admin.close()])
  return { ...findings, faults: [...findings.faults, ...pending.map(({ id }) => `${id} is pending for ever`)] }
}
