/** How long the server takes to start, and how much memory it uses. */
import { rmSync } from 'node:fs'
import { startProgram } from '../../src/testing/program.ts'
import { printTable, spreadOf } from './figures.ts'
import {
  limits,
  loadedEngine,
  residentNow,
  speech,
  startSubject,
  type Subject,
  temporaryFolder,
  warmUp,
} from './subject.ts'
import { shortTexts } from './texts.ts'

/**
 * From the start of the process to its `listening` line, and to the voice in memory; with an empty data folder and
 * cache of native libraries, then with those of earlier runs, alternately. Then once more, with a sentence that is
 * asked for as soon as it listens: from there to the first byte of sound.
 */
export async function measureStart(executable: string, runs: number): Promise<object> {
  const versionMs: number[] = []
  const coldMs: number[] = []
  const warmMs: number[] = []
  const voiceMs: number[] = []
  const soundMs = { first: [] as number[], second: [] as number[] }
  const filledDir = temporaryFolder()
  const folders = [filledDir]
  try {
    // Its self-test unpacks the libraries.
    const env = { ...process.env, MYNA_NATIVE_DIR: filledDir }
    await Bun.spawn([executable, 'doctor', '--data', filledDir], { stdout: 'ignore', env }).exited
    for (let run = 0; run < runs; run++) {
      versionMs.push(await wholeRun([executable, '--version']))
      const dataDir = temporaryFolder()
      const emptyDir = temporaryFolder()
      const soundDir = temporaryFolder()
      folders.push(dataDir, emptyDir, soundDir)
      coldMs.push((await oneStart(executable, dataDir, emptyDir)).listeningMs)
      const warm = await oneStart(executable, dataDir, filledDir)
      warmMs.push(warm.listeningMs)
      voiceMs.push(warm.voiceMs)
      const { firstMs, secondMs } = await firstSounds(executable, soundDir, filledDir)
      soundMs.first.push(firstMs)
      soundMs.second.push(secondMs)
    }
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  }
  const record = {
    versionMs: spreadOf(versionMs),
    listeningFirstMs: spreadOf(coldMs),
    listeningAgainMs: spreadOf(warmMs),
    voiceLoadedMs: spreadOf(voiceMs),
    firstSoundMs: spreadOf(soundMs.first),
    secondSoundMs: spreadOf(soundMs.second),
    firstToAgain: spreadOf(coldMs.map((ms, run) => ms / warmMs[run]!)),
  }
  printTable('Start, from the start of the process', [
    ['until', 'ms', 'p95'],
    ['--version has ended', record.versionMs.median, record.versionMs.p95],
    ['listening, nothing there yet', record.listeningFirstMs.median, record.listeningFirstMs.p95],
    ['listening, data and native cache there', record.listeningAgainMs.median, record.listeningAgainMs.p95],
    ['the voice is in memory', record.voiceLoadedMs.median, record.voiceLoadedMs.p95],
  ])
  printTable('First sound, from the request, which is made once it listens', [
    ['sentence', 'ms', 'p95'],
    ['the first', record.firstSoundMs.median, record.firstSoundMs.p95],
    ['the second', record.secondSoundMs.median, record.secondSoundMs.p95],
  ])
  return record
}

async function oneStart(executable: string, dataDir: string, nativeDir: string) {
  const beganMs = performance.now()
  const program = await startProgram(dataDir, { ...limits, MYNA_NATIVE_DIR: nativeDir }, [], [executable])
  const listeningMs = performance.now() - beganMs
  await loadedEngine(program)
  const voiceMs = performance.now() - beganMs
  program.kill('SIGTERM')
  await program.exited
  return { listeningMs, voiceMs }
}

/** Of samples without a header. */
async function firstSounds(executable: string, dataDir: string, nativeDir: string) {
  const program = await startProgram(dataDir, { ...limits, MYNA_NATIVE_DIR: nativeDir }, [], [executable])
  const soundMs = async (): Promise<number> => {
    const beganMs = performance.now()
    const { status, body } = await program.speak(program.key, { input: sentence, response_format: 'pcm' })
    if (status !== 200 || body === null) throw new Error(`speech: ${status}`)
    const reader = body.getReader()
    const { value = new Uint8Array(0) } = await reader.read()
    const ms = performance.now() - beganMs
    if (value.length === 0) throw new Error('speech: no sound')
    for (let part = await reader.read(); !part.done;) part = await reader.read()
    return ms
  }
  const firstMs = await soundMs()
  const secondMs = await soundMs()
  program.kill('SIGTERM')
  await program.exited
  return { firstMs, secondMs }
}

const sentence = 'The weather is fine today, and we will walk along the river.'

async function wholeRun(command: string[]): Promise<number> {
  const beganMs = performance.now()
  await Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).exited
  return performance.now() - beganMs
}

const sampleMs = 50

/** @param work memory is measured while it runs @returns the highest value */
export async function peakDuring(subject: Subject, work: Promise<unknown>) {
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  const peak = { serverMb: 0, engineMb: 0 }
  while (!isOver) {
    const { serverMb, engineMb } = residentNow(subject)
    peak.serverMb = Math.max(peak.serverMb, serverMb)
    peak.engineMb = Math.max(peak.engineMb, engineMb)
    await Bun.sleep(sampleMs)
  }
  await over
  return peak
}

/** A separate server, so that memory of an earlier measurement does not count. */
export async function measureMemory(executable: string, streams: number, shortRequests: number): Promise<object> {
  const subject = await startSubject(executable)
  try {
    const rows: (string | number)[][] = [['when', 'server MB', 'engine MB']]
    const steps: object[] = []
    const note = (when: string, { serverMb, engineMb }: { serverMb: number; engineMb: number }) => {
      rows.push([when, serverMb, engineMb])
      steps.push({ when, serverMb, engineMb })
    }
    note('started', residentNow(subject))
    await warmUp(subject)
    note('idle after warm-up', residentNow(subject))
    for (const format of ['pcm', 'mp3'] as const) {
      const peak = await peakDuring(subject, speech(subject, { clients: 64, requests: streams, format }))
      note(`64 streams of ${format}, peak`, peak)
    }
    note('idle after 64 streams', residentNow(subject))
    const quarter = Math.ceil(shortRequests / 4)
    let failures = 0
    for (let done = quarter; done <= 4 * quarter; done += quarter) {
      const order = { clients: 4, requests: quarter, texts: shortTexts, voice: 'jay' }
      for (const format of ['pcm', 'mp3'] as const) {
        failures += (await speech(subject, { ...order, format, requests: quarter / 2 })).failures.length
      }
      note(`after ${done} short requests`, residentNow(subject))
    }
    printTable('Resident memory', rows)
    return { steps, failures }
  } finally {
    await subject.stop()
  }
}
