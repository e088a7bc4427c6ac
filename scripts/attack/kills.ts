/**
 * Kills at any moment, under a mixed load: speech in all formats, as bytes and events, repeated under one key,
 * cancelled and abandoned; clones, deletions. After every restart the product's audit checks the whole folder, and the
 * clients compare what they saw with the records.
 */
import { audit } from '../../src/audit/audit.ts'
import type { Program } from '../../src/testing/program.ts'
import type { Seeded } from '../../src/testing/seeded.ts'
import { startTarget, type Target } from './target.ts'

const formats = ['pcm', 'wav', 'mp3', 'opus', 'aac', 'flac'] as const

interface Seen {
  /** Speech of the server itself: a hum is not cloned. */
  clip: File
  /** Operations whose streams were read to their ends. */
  whole: Set<string>
  /** The idempotency keys of those. */
  keys: Map<string, string>
  operations: number
  clones: Set<string>
}

/** @param endMs monotonic time of the last turn */
export async function kills(count: number, random: Seeded, endMs: number): Promise<string> {
  const target = await startTarget()
  const seen: Seen = { clip: await clipOf(target), whole: new Set(), keys: new Map(), operations: 0, clones: new Set() }
  const wrong: string[] = []
  const restartsMs: number[] = []
  let done = 0
  try {
    for (let turn = 0; turn < count && performance.now() < endMs; turn++) {
      const what = random.pick(['server', 'server', 'engine', 'both'] as const)
      const clients = Array.from({ length: 6 }, (_, client) => load(target, seen, random, `${turn}-${client}`))
      const work = Promise.allSettled(clients)
      await Bun.sleep(random.whole(50, 2500))
      await kill(target, what)
      await work
      const beganMs = performance.now()
      done++
      if (what !== 'engine') {
        await target.restart()
        restartsMs.push(performance.now() - beganMs)
      }
      wrong.push(...(await check(target, seen)))
      if (wrong.length > 0) break
      if ((turn + 1) % 10 === 0) console.log(`  ${turn + 1} kills, ${seen.operations} operations, nothing wrong`)
    }
  } finally {
    await target.end()
  }
  const median = restartsMs.sort((a, b) => a - b)[Math.floor(restartsMs.length / 2)] ?? 0
  const figures = `${seen.operations} operations, ${seen.whole.size} streams whole, ${seen.clones.size} clones`
  const found = wrong.length === 0 ? 'lost 0, doubled 0, wrong 0' : `WRONG: ${wrong.join('; ')}`
  return `${done} kills: ${found}; ${figures}; restart ${Math.round(median)} ms median`
}

async function clipOf({ program, key }: Target): Promise<File> {
  const input = 'This is a clip of some seconds, which is long enough for a voice to be made from it.'
  const spoken = await program.speak(key, { input, response_format: 'wav' })
  return new File([await spoken.bytes()], 'clip.wav')
}

async function kill({ program }: Target, what: 'server' | 'engine' | 'both'): Promise<void> {
  const engine = what === 'server' ? null : await program.engine().catch(() => null)
  if (typeof engine?.pid === 'number') process.kill(engine.pid, 'SIGKILL')
  if (what === 'engine') return
  program.kill('SIGKILL')
  await program.exited
}

/** One client, until the server is dead. */
async function load({ program, key }: Target, seen: Seen, random: Seeded, name: string): Promise<void> {
  for (let step = 0; step < 20; step++) {
    const kind = random.whole(0, 9)
    if (kind === 0) await clone(program, key, seen, random)
    else await speak(program, key, seen, random, `${name}-${step}`)
  }
}

async function speak(program: Program, key: string, seen: Seen, random: Seeded, name: string): Promise<void> {
  const events = random.chance(0.3) ? { stream_format: 'sse' } : {}
  const body = { input: 'Hello there. '.repeat(random.whole(1, 8)), response_format: random.pick(formats), ...events }
  const isKeyed = random.chance(0.5)
  const answer = await program.speak(key, body, isKeyed ? { 'idempotency-key': name } : {})
  const id = answer.headers.get('x-request-id') ?? ''
  seen.operations++
  if (random.chance(0.1)) return void (await answer.body?.cancel())
  if (random.chance(0.1)) await program.fetch(`/v1/operations/${id}/cancel`, key, { method: 'POST' })
  const text = await answer.text()
  const isWhole = 'stream_format' in events ? text.includes('speech.audio.done') : answer.status === 200
  if (!isWhole) return
  seen.whole.add(id)
  if (isKeyed) seen.keys.set(name, id)
}

async function clone(program: Program, key: string, seen: Seen, random: Seeded): Promise<void> {
  const form = new FormData()
  form.append('file', seen.clip)
  form.append('name', `voice ${random.whole(0, 1e9)}`)
  const answer = await program.fetch('/v1/voices', key, { method: 'POST', body: form })
  const { voice_id: id } = (await answer.json()) as { voice_id?: string }
  if (id === undefined) return
  seen.clones.add(id)
  if (random.chance(0.3)) {
    await program.fetch(`/v1/voices/${id}`, key, { method: 'DELETE' })
    seen.clones.delete(id)
  }
}

async function check({ dataDir, program, key }: Target, seen: Seen): Promise<string[]> {
  const { faults } = await audit(dataDir, 'full')
  const wrong = faults.map(({ rule, words }) => `${rule}: ${words}`)
  // The latest ones: older records were checked after earlier kills, and never change.
  for (const id of [...seen.whole].slice(-20)) {
    const record = (await (await program.fetch(`/v1/operations/${id}`, key)).json()) as { outcome?: string }
    if (record.outcome !== 'completed') wrong.push(`${id} was heard whole and is ${record.outcome ?? 'lost'}`)
  }
  const [name] = [...seen.keys].at(-1) ?? []
  if (name === undefined) return wrong
  const again = await program.speak(key, { input: 'Hello.' }, { 'idempotency-key': name })
  if (again.status !== 409) wrong.push(`the key ${name} was used, and is free: ${again.status}`)
  await again.body?.cancel()
  return wrong
}
