/**
 * Kills at any moment, under a mixed load: speech in all formats, as bytes and events, repeated under one key,
 * cancelled and abandoned; clones, deletions. After every restart the product's audit checks the whole folder, and what
 * clients saw is compared with the records.
 */
import { audit } from '../../src/audit/audit.ts'
import type { Program } from '../../src/testing/program.ts'
import type { Seeded } from '../../src/testing/seeded.ts'
import { startLoad } from './kill-load.ts'
import { startTarget, type Target } from './target.ts'

/** What clients saw of the records in one data folder. */
export interface Seen {
  /** Speech of the server itself: a hum is not cloned. */
  clip: File
  /** Operations whose streams were read to their ends. */
  whole: Set<string>
  /** The idempotency keys of those. */
  keys: Map<string, string>
  operations: number
  /** Voices whose clones were admitted, and those whose deletion was answered. */
  voices: Set<string>
  deleted: Set<string>
  /** Of `voices`: known to be ready. */
  ready: Set<string>
}

/** The audit reads all records, so each folder gets no more kills than this, and the next ones a new folder. */
const killsPerFolder = 250

/** @param endMs monotonic time of the last turn */
export async function kills(count: number, random: Seeded, endMs: number): Promise<string> {
  const total = { kills: 0, operations: 0, whole: 0, clones: 0, ready: 0 }
  const restartsMs: number[] = []
  const wrong: string[] = []
  while (wrong.length === 0 && total.kills < count && performance.now() < endMs) {
    const target = await startTarget()
    const seen = await nothingSeen(target)
    try {
      for (let turn = 0; turn < killsPerFolder && total.kills < count && performance.now() < endMs; turn++) {
        wrong.push(...(await oneKill(target, seen, random, { turn, restartsMs })))
        total.kills++
        if (total.kills % 50 === 0) console.log(`  ${total.kills} kills, ${wrong.length} wrong`)
        if (wrong.length > 0) break
      }
    } finally {
      await target.end()
    }
    total.operations += seen.operations
    total.whole += seen.whole.size
    total.clones += seen.voices.size + seen.deleted.size
    total.ready += seen.ready.size
  }
  const median = restartsMs.sort((a, b) => a - b)[Math.floor(restartsMs.length / 2)] ?? 0
  const { operations, whole, clones, ready } = total
  const figures = `${operations} operations, ${whole} streams whole, ${clones} clones, ${ready} seen ready`
  const found = wrong.length === 0 ? 'lost 0, doubled 0, wrong 0' : `WRONG: ${wrong.join('; ')}`
  return `${total.kills} kills: ${found}; ${figures}; restart ${Math.round(median)} ms median`
}

async function nothingSeen({ program, key }: Target): Promise<Seen> {
  const input = 'This is a clip of some seconds, which is long enough for a voice to be made from it.'
  const spoken = await program.speak(key, { input, response_format: 'wav' })
  const clip = new File([await spoken.bytes()], 'clip.wav')
  const sets = { whole: new Set<string>(), voices: new Set<string>(), deleted: new Set<string>() }
  return { clip, ...sets, ready: new Set(), keys: new Map(), operations: 0 }
}

interface Turn {
  turn: number
  restartsMs: number[]
}

/** @returns what was wrong afterwards */
async function oneKill(target: Target, seen: Seen, random: Seeded, { turn, restartsMs }: Turn): Promise<string[]> {
  const what = random.pick(['server', 'server', 'engine', 'both'] as const)
  const load = startLoad(target, seen, random, turn)
  // Anywhere in the work, which is slow at times: a moment chosen by the clock would often meet none.
  await load.steps(random.whole(0, 10))
  await Bun.sleep(random.whole(0, 100))
  await kill(target, what)
  if (what === 'engine') await load.steps(random.whole(0, 6))
  await load.stop()
  if (what !== 'engine') {
    const beganMs = performance.now()
    await target.restart()
    restartsMs.push(performance.now() - beganMs)
  }
  return check(target, seen)
}

async function kill({ program }: Target, what: 'server' | 'engine' | 'both'): Promise<void> {
  const engine = what === 'server' ? null : await program.engine().catch(() => null)
  if (typeof engine?.pid === 'number') process.kill(engine.pid, 'SIGKILL')
  if (what === 'engine') return
  program.kill('SIGKILL')
  await program.exited
}

async function check({ dataDir, program, key }: Target, seen: Seen): Promise<string[]> {
  const { faults } = await audit(dataDir, 'full')
  const wrong = faults.map(({ rule, words }) => `${rule}: ${words}`)
  // The latest ones: older records were checked after earlier kills, and never change.
  for (const id of [...seen.whole].slice(-20)) {
    const record = (await (await program.fetch(`/v1/operations/${id}`, key)).json()) as { outcome?: string }
    if (record.outcome !== 'completed') wrong.push(`${id} was heard whole and is ${record.outcome ?? 'lost'}`)
  }
  wrong.push(...(await checkVoices(program, key, seen)))
  const [name] = [...seen.keys].at(-1) ?? []
  if (name === undefined) return wrong
  const again = await program.speak(key, { input: 'Hello.' }, { 'idempotency-key': name })
  if (again.status !== 409) wrong.push(`the key ${name} was used, and is free: ${again.status}`)
  await again.body?.cancel()
  return wrong
}

async function checkVoices(program: Program, key: string, seen: Seen): Promise<string[]> {
  const wrong: string[] = []
  for (const id of [...seen.voices].slice(-10)) {
    const answer = await program.fetch(`/v1/voices/${id}`, key)
    const { status } = (await answer.json()) as { status?: string }
    if (answer.status !== 200) wrong.push(`the voice ${id} was admitted and is lost: ${answer.status}`)
    if (status === 'ready') seen.ready.add(id)
    else if (seen.ready.has(id)) wrong.push(`the voice ${id} was ready and is ${status}`)
  }
  for (const id of [...seen.deleted].slice(-5)) {
    const { status } = await program.fetch(`/v1/voices/${id}`, key)
    if (status !== 404) wrong.push(`the voice ${id} was deleted and is there: ${status}`)
  }
  return wrong
}
