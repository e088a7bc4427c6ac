/**
 * What happens to the service, drawn from a seed: clients that ask, read, disconnect, cancel and inspect; an engine
 * that makes frames or dies; administrators; clocks; full disks; the end of the process. Each seed weighs the events
 * anew (a swarm), so that some runs are all crashes and others all full queues.
 */
import { Seeded } from '../seeded.ts'
import type { ClipKind, CloneAsk, FollowedClone, Learning } from './clone-model.ts'
import type { Clip, FollowedListening } from './listening-model.ts'
import type { Body, Followed, Sound } from './model.ts'
import type { Death } from './process.ts'
import type { KnownAccount, KnownKey, Settings } from './facts.ts'

export interface AskDrawn {
  key: KnownKey
  idempotencyKey: string | null
  body: Body
}

export type WorldEvent =
  | { kind: 'ask'; asks: AskDrawn[]; leftAtOnce: boolean }
  | { kind: 'frame'; operation: Followed }
  | { kind: 'engine gone' }
  | { kind: 'read'; operation: Followed }
  | { kind: 'leave'; operation: Followed }
  | { kind: 'cancel' | 'inspect'; key: KnownKey; id: string }
  | { kind: 'intruder' }
  | { kind: 'credit'; account: KnownAccount; micros: number }
  | { kind: 'disable'; account: KnownAccount }
  | { kind: 'revoke'; key: KnownKey }
  | { kind: 'pass' | 'jump'; ms: number }
  | { kind: 'clone'; ask: CloneAsk }
  | { kind: 'learn' | 'cancel writing'; clone: FollowedClone }
  | { kind: 'cancel clone' | 'inspect clone' | 'delete'; key: KnownKey; clone: FollowedClone }
  | { kind: 'listen'; key: KnownKey }
  | { kind: 'hear' | 'take' | 'hang up'; listening: FollowedListening }
  | { kind: 'sweep' | 'sweep voices' }
  | { kind: 'usage'; account: KnownAccount }
  | { kind: 'disk full'; whole: boolean }
  | { kind: 'disk free' }
  | { kind: 'drain' }
  | { kind: 'stop' }
  | { kind: 'crash' }

export type Step = WorldEvent & { death: Death | null }

/** The acts that the workload may choose from. */
export interface View {
  keys: readonly KnownKey[]
  accounts: readonly KnownAccount[]
  balanceOf: (account: KnownAccount) => number | null
  operations: readonly Followed[]
  /**
   * Operations whose engine makes frames, whose client may ask for a chunk, and whose client waits for a chunk or for
   * its answer.
   */
  streaming: readonly Followed[]
  readable: readonly Followed[]
  present: readonly Followed[]
  clones: readonly FollowedClone[]
  /** The operations that the engine works on. */
  learning: readonly FollowedClone[]
  /** Transcriptions whose engine may handle a part, whose client may ask for one, and whose client is connected. */
  hearing: readonly FollowedListening[]
  takeable: readonly FollowedListening[]
  listening: readonly FollowedListening[]
  diskIsFull: boolean
  isDraining: boolean
  /** Whether the process can be stopped in order: no write waits for the disk. */
  stoppable: boolean
}

/** How often, before the seed changes it. */
const weights: Record<WorldEvent['kind'], number> = {
  ask: 26,
  frame: 40,
  'engine gone': 1,
  read: 45,
  leave: 4,
  cancel: 6,
  inspect: 8,
  intruder: 1,
  credit: 3,
  disable: 0.2,
  revoke: 0.3,
  pass: 5,
  jump: 1.5,
  clone: 9,
  learn: 12,
  'cancel writing': 1.5,
  'cancel clone': 1.5,
  'inspect clone': 2,
  delete: 3,
  'sweep voices': 1,
  listen: 6,
  hear: 16,
  take: 16,
  'hang up': 1.5,
  sweep: 3,
  usage: 3,
  'disk full': 1.2,
  'disk free': 6,
  drain: 0.3,
  stop: 0.7,
  crash: 1,
}

const seconds = 1000
const hours = 3600 * seconds

export function drawSettings(random: Seeded): Settings {
  return {
    microsPerChar: random.pick([15, 15, 7, 1]),
    streams: random.whole(1, 3),
    // A waiting request has no operation yet, and no row in the database.
    waiting: 0,
    concurrency: random.whole(2, 6),
    queueWaitMs: 20 * seconds,
    unreadMs: 120 * seconds,
    cloneMicros: random.pick([500, 2500]),
    freeClones: random.whole(0, 2),
    maxVoices: random.whole(2, 4),
    cloneStreams: random.whole(1, 2),
    cloneWaiting: random.whole(0, 2),
    cloneConcurrency: random.whole(1, 3),
    listenStreams: random.whole(1, 2),
    listenWaiting: random.whole(0, 2),
    // A request that waits for others of its account has no row in any table either.
    listenConcurrency: 1000,
  }
}

export class Workload {
  readonly #random: Seeded
  readonly #weights: [WorldEvent['kind'], number][]
  readonly #bodies: Body[]
  readonly #deathChance: number
  readonly #microsPerChar: number

  constructor(random: Seeded, { microsPerChar }: Settings) {
    this.#random = random
    this.#microsPerChar = microsPerChar
    const kinds = Object.entries(weights) as [WorldEvent['kind'], number][]
    this.#weights = kinds.map(([kind, weight]) => [kind, weight * random.pick([0.2, 1, 1, 3])])
    this.#bodies = Array.from({ length: 5 }, (_, index) => this.#body(`body ${index}`))
    this.#deathChance = random.pick([0, 0.005, 0.02])
  }

  next(view: View): Step {
    const random = this.#random
    for (;;) {
      const kind = view.isDraining && random.chance(0.1) ? 'stop' : this.#kind()
      const event = this.#draw(kind, view)
      if (event === null) continue
      const death = random.chance(this.#deathChance)
        ? { writes: random.whole(1, 3), committed: random.chance(0.5) }
        : null
      return { ...event, death }
    }
  }

  #kind(): WorldEvent['kind'] {
    const all = this.#weights.reduce((sum, [, weight]) => sum + weight, 0)
    let at = this.#random.next() * all
    for (const [kind, weight] of this.#weights) if ((at -= weight) < 0) return kind
    return 'ask'
  }

  /** null: no target exists. */
  #draw(kind: WorldEvent['kind'], view: View): WorldEvent | null {
    const random = this.#random
    switch (kind) {
      case 'ask':
        return this.#ask(view)
      case 'frame':
        return withOne(random, view.streaming, (operation) => ({ kind, operation }))
      case 'read':
        return withOne(random, view.readable, (operation) => ({ kind, operation }))
      case 'leave':
        return withOne(random, view.present, (operation) => ({ kind, operation }))
      case 'cancel':
      case 'inspect':
        return { kind, key: random.pick(view.keys), id: this.#someId(view) }
      case 'credit':
        return this.#credit(view)
      case 'disable':
        // One account stays, because without it nothing more would happen.
        return { kind, account: random.pick(view.accounts.slice(1)) }
      case 'revoke':
        return { kind, key: random.pick(view.keys.slice(1)) }
      case 'usage':
        return { kind, account: random.pick(view.accounts) }
      case 'pass':
        return {
          kind,
          ms: random.whole(1, random.pick([50, 2, 5, 25, 150, 7200, 30 * 3600].map((span) => span * seconds))),
        }
      case 'jump':
        return { kind, ms: random.whole(-26 * hours, 26 * hours) }
      case 'disk full':
        return view.diskIsFull ? null : { kind, whole: random.chance(0.6) }
      case 'disk free':
        return view.diskIsFull ? { kind } : null
      case 'stop':
        return view.stoppable ? { kind } : null
      case 'clone':
        return { kind, ask: this.#clone(view) }
      case 'learn':
        return withOne(random, view.learning, (clone) => ({ kind, clone }))
      case 'cancel writing': {
        const writable = view.diskIsFull ? [] : view.learning.filter(({ learning }) => learning === 'voice')
        return withOne(random, writable, (clone) => ({ kind, clone }))
      }
      case 'cancel clone':
      case 'inspect clone':
      case 'delete':
        return withOne(random, view.clones.slice(-8), (clone) => ({ kind, clone, key: this.#keyFor(view, clone) }))
      case 'listen':
        return { kind, key: random.pick(view.keys) }
      case 'hear':
        return withOne(random, view.hearing, (listening) => ({ kind, listening }))
      case 'take':
        return withOne(random, view.takeable, (listening) => ({ kind, listening }))
      case 'hang up':
        return withOne(random, view.listening, (listening) => ({ kind, listening }))
      case 'sweep voices':
      case 'engine gone':
      case 'intruder':
      case 'sweep':
      case 'drain':
      case 'crash':
        return { kind }
    }
  }

  /** Often exactly what a request lacks: the edge between enough and too little. */
  #credit(view: View): WorldEvent | null {
    const random = this.#random
    const prepaid = view.accounts.filter((account) => account.prepaid)
    return withOne(random, prepaid, (account) => {
      const priceMicros = random.pick(this.#bodies).chars * this.#microsPerChar
      const lackMicros = priceMicros - (view.balanceOf(account) ?? 0)
      return { kind: 'credit', account, micros: lackMicros > 0 ? lackMicros : random.whole(1, 3000) }
    })
  }

  /**
   * One request, or several at the same moment, with one idempotency key if any. They name the same voice, because
   * other voices take more or fewer look-ups and the model expects admission in the order of sending.
   */
  #ask(view: View): WorldEvent {
    const random = this.#random
    const key = random.pick(view.keys.filter(({ scopes }) => scopes === null || scopes.includes('tts')))
    const idempotencyKey = random.chance(0.7) ? random.pick(['one', 'two', 'three']) : null
    if (view.clones.length > 0 && random.chance(0.15)) {
      const clone = random.pick(view.clones.slice(-8))
      const own = { key: random.chance(0.7) ? clone.ask.key : key, idempotencyKey, body: saidBy(clone.voiceId) }
      return { kind: 'ask', asks: [own], leftAtOnce: false }
    }
    const asks = random.chance(0.8) ? 1 : random.whole(2, 3)
    const { voice } = random.pick(this.#bodies)
    const bodies = this.#bodies.filter((body) => body.voice === voice)
    const one = (): AskDrawn => ({ key, idempotencyKey, body: random.pick(bodies) })
    return { kind: 'ask', asks: Array.from({ length: asks }, one), leftAtOnce: random.chance(0.04) }
  }

  #clone(view: View): CloneAsk {
    const random = this.#random
    const key = random.pick(view.keys.filter(({ scopes }) => scopes === null || scopes.includes('voices')))
    const idempotencyKey = random.chance(0.5) ? random.pick(['one', 'two', 'three']) : null
    const refused: ClipKind[] = ['short', 'silent', 'broken']
    return { key, idempotencyKey, clip: random.chance(0.1) ? random.pick(refused) : 'spoken' }
  }

  /** Mostly the owner's. */
  #keyFor({ keys }: View, { ask }: FollowedClone): KnownKey {
    return this.#random.chance(0.75) ? ask.key : this.#random.pick(keys)
  }

  #someId(view: View): string {
    const random = this.#random
    if (view.operations.length === 0 || random.chance(0.08)) {
      return random.pick(['op_00000000000000000000000000', 'op_nonsense', '', "op_' OR 1=1 --"])
    }
    // Mostly recent ones, because those may still run.
    const recent = view.operations.slice(-6)
    return random.pick(random.chance(0.7) ? recent : view.operations).id
  }

  #body(name: string): Body {
    const random = this.#random
    // Each bird is one code point and two UTF-16 units.
    const text = `${name} ${'a word '.repeat(random.whole(0, 12))}${'🐦'.repeat(random.whole(0, 9))}`
    return {
      name,
      text,
      chars: Array.from(text).length,
      format: random.pick(['pcm', 'wav']),
      rateHz: random.pick([24_000, 24_000, 8000, 22_050]),
      voice: random.chance(0.05) ? 'nobody' : random.pick(['alloy', 'lark', 'Wren']),
    }
  }
}

/** The engine's output for an operation follows from its id, which is known before the model sees it. */
export function soundOf(operationId: string): Sound {
  const random = new Seeded(Number(Bun.hash(operationId) & 0xffffffffn))
  const frames = random.whole(1, 5)
  return { frames, samples: random.whole(1, 9) * 40, failAt: random.chance(0.15) ? random.whole(0, frames) : null }
}

export const learningOf = (operationId: string): Learning =>
  new Seeded(Number(Bun.hash(operationId) & 0xffffffffn)).pick(['voice', 'voice', 'voice', 'refused', 'broken', 'mute'])

export function clipHeardOf(requestId: string): Clip {
  const random = new Seeded(Number(Bun.hash(requestId) & 0xffffffffn))
  const parts = random.whole(1, 4)
  return { parts, failAt: random.chance(0.25) ? random.whole(0, parts - 1) : null }
}

function saidBy(voice: string): Body {
  const text = `said by ${voice}`
  return { name: text, text, chars: text.length, format: 'pcm', rateHz: 24_000, voice }
}

const withOne = <T>(random: Seeded, among: readonly T[], event: (one: T) => WorldEvent): WorldEvent | null =>
  among.length === 0 ? null : event(random.pick(among))
