/**
 * How long the event loops of server and engines are held while sixteen streams are spoken, alone and beside
 * transcriptions. A hold of 50 ms would be heard by the others. What counts is the time on a processor: on a shared
 * machine a thread may wait for one at any moment.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Hold } from './loop-watch.ts'
import { printTable } from './figures.ts'
import { speech, startSubject, type Subject, temporaryFolder, warmUp } from './subject.ts'
import { texts } from './texts.ts'

const streams = 16
const longMs = 50
/** The watch writes once a second. */
const writtenMs = 1500

interface Loop {
  process: string
  during: string
  longestCpuMs: number
  longestWallMs: number
  /** Turns of 50 ms or more on the processor. */
  held: number
}

export async function measureHolds(executable: string, requests: number): Promise<object> {
  const folder = temporaryFolder()
  const preload = `--preload=${join(import.meta.dir, 'loop-watch.ts')}`
  const subject = await startSubject(executable, { BUN_OPTIONS: preload, MYNA_BENCH_LOOPS: folder })
  try {
    await warmUp(subject)
    const clip = await spokenClip(subject)
    const loops: Loop[] = []
    const phase = async (during: string, work: Promise<unknown>) => {
      const fromMs = Date.now()
      await work
      const toMs = Date.now()
      await Bun.sleep(writtenMs)
      loops.push(...(await loopsOf(subject, folder, during, fromMs, toMs)))
    }
    // ONNX Runtime makes a session in one go, before the recognizer has work.
    await phase('the recognizer is loaded', hear(subject, clip))
    for (const format of ['pcm', 'mp3'] as const) {
      await phase(`${streams} streams of ${format}`, speech(subject, { clients: streams, requests, format }))
    }
    let isOver = false
    const spoken = speech(subject, { clients: streams, requests, format: 'pcm' }).finally(() => (isOver = true))
    const heard = (async () => {
      while (!isOver) await hear(subject, clip)
    })()
    await phase(`${streams} streams and a transcription`, Promise.all([spoken, heard]))
    printTable(`Event loops, ${requests} texts each`, [
      ['during', 'process', 'longest, CPU ms', 'longest, wall ms', `held for ${longMs} CPU ms`],
      ...loops.map((loop) => [loop.during, loop.process, loop.longestCpuMs, loop.longestWallMs, loop.held]),
    ])
    return loops
  } finally {
    await subject.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function loopsOf(
  { program }: Subject,
  folder: string,
  during: string,
  fromMs: number,
  toMs: number,
): Promise<Loop[]> {
  const engines = await program.engines()
  const processes = [{ name: 'server', pid: program.pid as number | null }].concat(
    engines.map(({ task, pid }) => ({ name: task === 'text-to-speech' ? 'voice' : 'ears', pid })),
  )
  return processes.flatMap(({ name, pid }): Loop[] => {
    const path = join(folder, `${pid}.json`)
    if (!existsSync(path)) return []
    const all = JSON.parse(readFileSync(path, 'utf8')) as Hold[]
    const holds = all.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
    const longest = (of: 'cpuMs' | 'wallMs') => Math.max(0, ...holds.map((hold) => hold[of]))
    const held = holds.filter(({ cpuMs }) => cpuMs >= longMs).length
    return [{ process: name, during, longestCpuMs: longest('cpuMs'), longestWallMs: longest('wallMs'), held }]
  })
}

async function spokenClip({ url, key }: Subject): Promise<Blob> {
  const body = JSON.stringify({ input: texts[6], voice: 'lark', response_format: 'wav' })
  const headers = { authorization: `Bearer ${key}` }
  return (await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body })).blob()
}

async function hear({ url, key }: Subject, clip: Blob): Promise<void> {
  const form = new FormData()
  form.append('file', new File([clip], 'clip.wav'))
  form.append('model', 'whisper-1')
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
  if (!answer.ok) throw new Error(`a transcription failed: ${answer.status} ${await answer.text()}`)
  await answer.arrayBuffer()
}
