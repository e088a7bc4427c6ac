/** Voices: how long a clone takes from its upload, and how fast an existing preview is served. */
import { printTable, type Spread, spreadOf } from './figures.ts'
import { connections, type Subject } from './subject.ts'

export interface CloneFigures {
  clipSeconds: number
  acceptedMs: Spread
  readyMs: Spread
  previewsPerSecond: number
  previewsFailed: number
}

const previewPath = '/v1/voices/lark/preview'
const pollMs = 10

/** @throws Error when a clone is refused or fails */
export async function measureClones(subject: Subject, rounds: number, seconds: number): Promise<CloneFigures> {
  const { clip, clipSeconds } = await tenSeconds(subject)
  const acceptedMs: number[] = []
  const readyMs: number[] = []
  for (let round = 0; round < rounds; round++) {
    const times = await cloneOnce(subject, clip)
    acceptedMs.push(times.acceptedMs)
    readyMs.push(times.readyMs)
  }
  await (await subject.program.fetch(previewPath)).arrayBuffer()
  const previews = await connections(subject, previewPath, seconds)
  const figures = {
    clipSeconds,
    acceptedMs: spreadOf(acceptedMs),
    readyMs: spreadOf(readyMs),
    previewsPerSecond: (previews.answers / previews.wallMs) * 1000,
    previewsFailed: previews.failures,
  }
  print(figures)
  return figures
}

/** A clip with real pauses and pitch that every machine has: speech of the built-in voice. */
async function tenSeconds({ program, key }: Subject): Promise<{ clip: Blob; clipSeconds: number }> {
  const input =
    'This clip was spoken by the built-in voice, so that every machine can measure with the same one. ' +
    'It lasts about ten seconds, which is what people are asked to record.'
  const speech = await program.speak(key, { input, voice: 'wren', response_format: 'wav' })
  const bytes = await speech.arrayBuffer()
  return { clip: new Blob([bytes]), clipSeconds: (bytes.byteLength - 44) / 48_000 }
}

async function cloneOnce({ program, key }: Subject, clip: Blob): Promise<{ acceptedMs: number; readyMs: number }> {
  const form = new FormData()
  form.append('file', new File([clip], 'clip.wav'))
  const beganMs = performance.now()
  const accepted = await program.fetch('/v1/voices', key, { method: 'POST', body: form })
  const acceptedMs = performance.now() - beganMs
  const { voice_id } = (await accepted.json()) as { voice_id?: string }
  if (accepted.status !== 201) throw new Error(`the clone was refused: ${accepted.status}`)
  const path = `/v1/voices/${voice_id}`
  for (;;) {
    const { status } = (await (await program.fetch(path, key)).json()) as { status: string }
    if (status === 'failed') throw new Error('the clone failed')
    if (status === 'ready') break
    await Bun.sleep(pollMs)
  }
  const readyMs = performance.now() - beganMs
  await program.fetch(path, key, { method: 'DELETE' })
  return { acceptedMs, readyMs }
}

function print({ clipSeconds, acceptedMs, readyMs, previewsPerSecond, previewsFailed }: CloneFigures): void {
  printTable(`Clones of a clip of ${clipSeconds.toFixed(1)} s, one after another, from the start of the upload`, [
    ['until', 'ms', 'p95'],
    ['accepted (decoded, checked, admitted)', acceptedMs.median, acceptedMs.p95],
    ['ready (learned, preview made, stored)', readyMs.median, readyMs.p95],
  ])
  printTable('Previews that are there, 16 connections that stay open', [
    ['per s', 'failed'],
    [previewsPerSecond, previewsFailed],
  ])
}
