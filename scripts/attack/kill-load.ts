/** The clients while something is killed: they repeat their steps until they are stopped, whatever becomes of them. */
import type { Program } from '../../src/testing/program.ts'
import type { Seeded } from '../../src/testing/seeded.ts'
import type { Seen } from './kills.ts'
import type { Target } from './target.ts'

const formats = ['pcm', 'wav', 'mp3', 'opus', 'aac', 'flac'] as const
const clients = 6
/** No longer than this for the steps before a kill: the machine may be slow. */
const stepsMs = 5000

export interface Load {
  /** Resolves once all clients together began this many further steps. */
  steps(count: number): Promise<void>
  /** Resolves once the steps that are being made have ended. */
  stop(): Promise<void>
}

export function startLoad({ program, key }: Target, seen: Seen, random: Seeded, turn: number): Load {
  let isOver = false
  let begun = 0
  const repeat = async (client: number) => {
    for (let step = 0; !isOver; step++) {
      begun++
      const isClone = random.whole(0, 9) === 0
      const work = isClone
        ? clone(program, key, seen, random)
        : speak(program, key, seen, random, `${turn}-${client}-${step}`)
      // A connection that is kept from before a kill fails at its first use, and every one after the kill.
      await work.catch(() => Bun.sleep(5))
    }
  }
  const all = Promise.all(Array.from({ length: clients }, (_, client) => repeat(client)))
  return {
    async steps(count) {
      const [due, endMs] = [begun + count, performance.now() + stepsMs]
      while (begun < due && performance.now() < endMs) await Bun.sleep(1)
    },
    async stop() {
      isOver = true
      await all
    },
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
  seen.voices.add(id)
  if (!random.chance(0.3)) return
  // Without its answer it may or may not be deleted.
  seen.voices.delete(id)
  const { ok } = await program.fetch(`/v1/voices/${id}`, key, { method: 'DELETE' })
  if (ok) seen.deleted.add(id)
}
