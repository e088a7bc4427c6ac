/**
 * The simulation (after TigerBeetle's VOPR): random clients, engines, administrators, clocks, disks and deaths against
 * the real service, step by step. Everything follows from the seed, so that a failure can be repeated. The service's
 * own rules are not used to judge it: `model.ts` says what must happen, `auditor.ts` reads the database.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Seeded } from '../seeded.ts'
import { administer, ask, endEngine, intrude, report, sweep, touch } from './acts.ts'
import { cancelWriting, clone, deleteVoice, learn, sweepVoices, touchClone } from './clone-acts.ts'
import type { Client } from './client.ts'
import { hangUp, hear, listen, take } from './listening-acts.ts'
import type { Listener } from './listening.ts'
import type { FollowedListening } from './listening-model.ts'
import type { Followed } from './model.ts'
import { Stage } from './stage.ts'
import { type Step, type View, Workload } from './workload.ts'

export interface Run {
  /** The acts and their results, line by line. */
  trace: readonly string[]
  /** How often each kind of event happened. */
  seen: ReadonlyMap<string, number>
}

export class SimulationFailure extends Error {
  readonly trace: readonly string[]

  constructor(seed: number, step: number, trace: readonly string[], cause: unknown) {
    const what = cause instanceof Error ? cause.message : String(cause)
    super(`seed ${seed}, step ${step}: ${what}\nTo see it again: bun scripts/simulate.ts ${seed} --verbose`, { cause })
    this.trace = trace
  }
}

/**
 * @param atEnd gets the folder as a kill would leave it, before it is removed
 * @throws SimulationFailure naming the seed, the step and the broken rules
 */
export async function simulate(seed: number, steps: number, atEnd: (folder: string) => void = () => {}): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'myna-simulation-'))
  const trace: string[] = []
  const stage = new Stage(seed, folder, trace)
  const workload = new Workload(new Seeded(seed), stage.settings)
  let number = 0
  try {
    await stage.open()
    for (; number < steps; number++) {
      const step = workload.next(viewOf(stage))
      trace.push(`${number} ${describe(step)}`)
      stage.note(step.kind)
      if (step.death !== null) stage.process.dieAt(step.death)
      await perform(stage, step)
      if (!stage.process.dead) continue
      trace.push('  the process died')
      stage.note('died between two writes')
      await stage.crash()
      await stage.auditAlone()
    }
    await settleDown(stage)
    await stage.auditAlone()
    atEnd(folder)
    return { trace, seen: stage.seen }
  } catch (error) {
    throw new SimulationFailure(seed, number, trace, error)
  } finally {
    stage.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function viewOf(stage: Stage): View {
  const { model, clients } = stage
  const operationsOf = (wanted: (client: Client) => boolean): Followed[] =>
    clients.flatMap((client) => (client.operation !== null && wanted(client) ? [client.operation] : []))
  const listeningsOf = (wanted: (listener: Listener) => boolean): FollowedListening[] =>
    stage.listeners.flatMap((each) => (each.followed !== null && wanted(each) ? [each.followed] : []))
  return {
    keys: stage.keys,
    accounts: stage.accounts,
    balanceOf: (account) => model.balanceMicros(account),
    operations: model.operations,
    streaming: model.live.filter(({ permits, sound }) => permits <= sound.frames),
    readable: operationsOf((client) => client.mayRead),
    present: operationsOf((client) => client.isPresent),
    clones: model.clones.all,
    learning: model.clones.live.filter(({ stage }) => stage === 'running'),
    hearing: model.listenings.live.filter(({ stage, permits, clip }) => stage === 'running' && permits <= clip.parts),
    takeable: listeningsOf((listener) => listener.mayRead),
    listening: listeningsOf((listener) => listener.isPresent),
    diskIsFull: stage.disk !== 'free',
    isDraining: model.draining,
    stoppable:
      stage.disk === 'free' &&
      [model, model.clones, model.listenings].every(({ unwritten }) => unwritten.length === 0) &&
      !model.clones.lingering,
  }
}

const nothing = () => {}

async function perform(stage: Stage, step: Step): Promise<void> {
  const { model, process } = stage
  switch (step.kind) {
    case 'ask':
      return ask(stage, step.asks, step.leftAtOnce)
    case 'frame':
      process.streams.get(step.operation.id)?.permit()
      return stage.follow(() => model.permit(step.operation))
    case 'engine gone':
      return endEngine(stage)
    case 'read':
      clientOf(stage, step.operation).read(stage.clock.monotonicMs())
      return stage.follow(() => model.read(step.operation))
    case 'leave':
      clientOf(stage, step.operation).leave()
      return stage.follow(() => model.leave(step.operation))
    case 'cancel':
    case 'inspect':
      return touch(stage, step.kind, step.key, step.id)
    case 'intruder':
      return intrude(stage)
    case 'credit':
    case 'disable':
    case 'revoke':
      return administer(stage, step)
    case 'pass':
      return stage.pass(step.ms)
    case 'jump':
      stage.clock.jump(step.ms)
      return stage.follow(nothing)
    case 'clone':
      return clone(stage, step.ask)
    case 'learn':
      return learn(stage, step.clone)
    case 'cancel writing':
      return cancelWriting(stage, step.clone)
    case 'cancel clone':
    case 'inspect clone':
      return touchClone(stage, step.kind, step.key, step.clone)
    case 'delete':
      return deleteVoice(stage, step.key, step.clone)
    case 'listen':
      return listen(stage, step.key)
    case 'hear':
      return hear(stage, step.listening)
    case 'take':
      return take(stage, step.listening)
    case 'hang up':
      return hangUp(stage, step.listening)
    case 'sweep voices':
      return sweepVoices(stage)
    case 'sweep':
      return sweep(stage)
    case 'usage':
      return report(stage, step.account)
    case 'disk full':
      await stage.fillDisk(step.whole)
      return stage.follow(nothing)
    case 'disk free':
      await stage.freeDisk()
      return stage.follow(nothing)
    case 'drain':
      process.drain()
      return stage.follow(() => (model.draining = true))
    case 'stop':
      return stage.stop()
    case 'crash':
      return stage.crash()
  }
}

function clientOf(stage: Stage, operation: Followed): Client {
  const client = stage.clients.find((each) => each.operation === operation)
  if (client === undefined) throw new Error(`nobody asked for ${operation.id}`)
  return client
}

/**
 * Every deadline passes. After that, only streams remain whose engine makes no frame and whose client waits for one.
 */
async function settleDown(stage: Stage): Promise<void> {
  if (stage.disk !== 'free') await stage.freeDisk()
  await stage.pass(10 * 60_000)
  if (stage.process.dead) return stage.crash()
  const { live, listenings } = stage.model
  const idle = [
    ...live.filter(({ unreadDue }) => unreadDue !== null),
    ...listenings.live.filter(({ stage, unreadDue }) => stage === 'waiting' || unreadDue !== null),
  ]
  if (idle.length > 0) stage.fail(`${idle.map(({ id }) => id).join()} outlived every deadline`)
}

/** One line, with ids and names instead of whole records. */
function describe(step: Step): string {
  const short = (name: string, value: unknown): unknown => {
    if (name === 'kind' || (name === 'death' && value === null)) return undefined
    if (typeof value !== 'object' || value === null) return value
    if (['operation', 'clone', 'listening'].includes(name) && 'id' in value) return value.id
    if (name === 'account' && 'name' in value) return value.name
    if (name === 'body' && 'name' in value) return value.name
    if (name === 'key' && 'account' in value && 'id' in value) return value.id
    return value
  }
  return `${step.kind} ${JSON.stringify(step, short)}`
}
