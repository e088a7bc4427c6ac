/** Mutated clips and forms: false headers, flipped bits, files cut off, forms without an end. */
import { hum } from '../../src/testing/instance.ts'
import type { Seeded } from '../../src/testing/seeded.ts'
import { sizeOf, startTarget, type Target, uploadsLeft } from './target.ts'

const formats = ['mp3', 'opus', 'aac', 'flac', 'wav'] as const
const routes = ['/v1/voices', '/v1/audio/transcriptions'] as const

/** @param endMs monotonic time of the last upload */
export async function uploads(count: number, random: Seeded, endMs: number): Promise<string> {
  const target = await startTarget()
  const before = sizeOf(target.program)
  const statuses = new Map<number, number>()
  let broken = 0
  try {
    const clips = await clipsOf(target)
    const clients = 4
    const one = async () => {
      for (let turn = 0; turn < count / clients && performance.now() < endMs; turn++) {
        const status = await send(target, mutated(random.pick(clips), random), random).catch(() => null)
        if (status === null) broken++
        else statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    }
    await Promise.all(Array.from({ length: clients }, one))
    const after = sizeOf(target.program)
    const sum = (isOne: (status: number) => boolean) =>
      [...statuses].filter(([status]) => isOne(status)).reduce((total, [, times]) => total + times, 0)
    const sizes = `RSS ${before.rssMb} -> ${after.rssMb} MB, descriptors ${before.descriptors} -> ${after.descriptors}`
    const failed = sum((status) => status >= 500 && status !== 503)
    const left = `${broken} without an answer, uploads left ${uploadsLeft(target)}`
    const each = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} x ${status}`)
    return `${sum(() => true)} uploads (${each.join(', ')}): ${failed} 5xx, ${left}; ${sizes}`
  } finally {
    await target.end()
  }
}

/** The server's own speech, in each of its formats. */
async function clipsOf({ program, key }: Target): Promise<Uint8Array[]> {
  const input = 'This is a clip of some seconds, which will be damaged in many ways before it comes back.'
  const spoken = await Promise.all(
    formats.map(async (response_format) => (await program.speak(key, { input, response_format })).bytes()),
  )
  return [await hum(3).bytes(), ...spoken]
}

function mutated(clip: Uint8Array, random: Seeded): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(clip)
  const isHead = random.chance(0.6)
  for (let flips = random.whole(1, 30); flips > 0; flips--) {
    bytes[random.whole(0, isHead ? Math.min(200, bytes.length - 1) : bytes.length - 1)] = random.whole(0, 255)
  }
  return random.chance(0.3) ? bytes.subarray(0, random.whole(0, bytes.length)) : bytes
}

async function send({ program, key }: Target, clip: Uint8Array<ArrayBuffer>, random: Seeded): Promise<number> {
  const form = new FormData()
  const name = random.pick(['a.wav', '../../x', 'a\u0000b.mp3', '', '𝒳.flac'] as const)
  form.append('file', new File([clip], name, { type: random.pick(['audio/wav', 'text/html', ''] as const) }))
  form.append('name', 'attack')
  form.append('model', random.pick(['whisper-1', 'hibari', 'x'.repeat(1000)] as const))
  const signal = AbortSignal.timeout(120_000)
  const answer = await program.fetch(random.pick(routes), key, { method: 'POST', body: form, signal })
  const made = (await answer.json().catch(() => ({}))) as { voice_id?: string }
  if (made.voice_id !== undefined) await program.fetch(`/v1/voices/${made.voice_id}`, key, { method: 'DELETE' })
  return answer.status
}
