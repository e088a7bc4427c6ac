/**
 * Memory over time: a steady trickle of requests, speech in every format and transcriptions of what was spoken, as a
 * household or a small team makes them. Memory that grows with the requests shows as a difference between the tenths.
 */
import { readFileSync } from 'node:fs'
import { audioFormats } from '../../src/domain/speech.ts'
import { printTable } from './figures.ts'
import { startSubject, type Subject, warmUp } from './subject.ts'
import { texts } from './texts.ts'

/** In flight; more are left out, so that a busy machine is not buried. */
const mostAtOnce = 4
const sampleMs = 5000
const tenths = 10

interface Sample {
  serverMb: number
  voiceMb: number
  earsMb: number
}

export async function measureSteady(executable: string, seconds: number, perSecond: number): Promise<object> {
  const subject = await startSubject(executable)
  try {
    const started = await memoryOf(subject)
    await warmUp(subject)
    const before = await memoryOf(subject)
    const work = new Trickle(subject)
    const samples: Sample[] = []
    const endMs = performance.now() + 1000 * seconds
    let sampleDueMs = 0
    while (performance.now() < endMs) {
      work.next()
      if (performance.now() >= sampleDueMs) {
        samples.push(await memoryOf(subject))
        sampleDueMs = performance.now() + sampleMs
      }
      await Bun.sleep(1000 / perSecond)
    }
    await work.finished()
    const { answers, failures, leftOut } = work
    printTable(`Resident memory over ${seconds} s: ${answers} answers, ${failures} failures, ${leftOut} left out`, [
      ['when', 'server MB', 'voice MB', 'ears MB'],
      ['started', ...spanOf([started])],
      ['idle after warm-up', ...spanOf([before])],
      ...inTenths(samples).map((part, at) => [`tenth ${at + 1}`, ...spanOf(part)]),
    ])
    return { seconds, perSecond, answers, failures, leftOut, started, before, samples }
  } finally {
    await subject.stop()
  }
}

/** Requests one after another, each of the next kind. */
class Trickle {
  answers = 0
  failures = 0
  leftOut = 0
  readonly #subject: Subject
  readonly #running = new Set<Promise<void>>()
  #count = 0
  /** What was spoken last, for the next transcription. */
  #spoken: Blob | null = null

  constructor(subject: Subject) {
    this.#subject = subject
  }

  next(): void {
    if (this.#running.size >= mostAtOnce) {
      this.leftOut++
      return
    }
    const turn = this.#count++
    const request = (turn % 4 === 3 && this.#spoken !== null ? this.#transcribe(this.#spoken) : this.#speak(turn)).then(
      () => void this.answers++,
      (error: unknown) => {
        this.failures++
        console.error(String(error))
      },
    )
    this.#running.add(request)
    void request.then(() => this.#running.delete(request))
  }

  async finished(): Promise<void> {
    await Promise.all(this.#running)
  }

  async #speak(turn: number): Promise<void> {
    const format = audioFormats[turn % audioFormats.length]!
    const body = JSON.stringify({ input: texts[turn % texts.length], voice: 'lark', response_format: format })
    const answer = await this.#ask('/v1/audio/speech', body)
    const sound = await answer.blob()
    if (format !== 'pcm') this.#spoken = new File([sound], `spoken.${format}`)
  }

  async #transcribe(sound: Blob): Promise<void> {
    const form = new FormData()
    form.append('file', sound)
    form.append('model', 'whisper-1')
    await (await this.#ask('/v1/audio/transcriptions', form)).json()
  }

  async #ask(path: string, body: string | FormData): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#subject.key}` }
    const answer = await fetch(this.#subject.url + path, { method: 'POST', headers, body })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }
}

async function memoryOf({ program }: Subject): Promise<Sample> {
  const engines = await program.engines()
  const engineMb = (task: string) => residentMb(engines.find((engine) => engine.task === task)?.pid ?? null)
  return {
    serverMb: residentMb(program.pid),
    voiceMb: engineMb('text-to-speech'),
    earsMb: engineMb('automatic-speech-recognition'),
  }
}

/** 0: it does not run. */
function residentMb(pid: number | null): number {
  if (pid === null) return 0
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0
  return Number(kib) * 1.024e-3
}

function inTenths(samples: readonly Sample[]): Sample[][] {
  return Array.from({ length: Math.min(tenths, samples.length) }, (_, at) => {
    const from = Math.floor((at * samples.length) / tenths)
    return samples.slice(from, Math.max(from + 1, Math.floor(((at + 1) * samples.length) / tenths)))
  })
}

/** The least is what stays; what is above it waits for the collector. */
function spanOf(samples: readonly Sample[]): string[] {
  return (['serverMb', 'voiceMb', 'earsMb'] as const).map((of) => {
    const values = samples.map((sample) => Math.round(sample[of]))
    const [least, most] = [Math.min(...values), Math.max(...values)]
    return least === most ? String(least) : `${least} to ${most}`
  })
}
