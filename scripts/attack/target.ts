/** The server under attack: the real program in a process of its own, with what an attack needs to know about it. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, startProgram } from '../../src/testing/program.ts'

const main = join(import.meta.dir, '..', '..', 'src', 'main.ts')
const many = '1000000'
const env = {
  MYNA_LOG: 'quiet',
  MYNA_SPEECH_PER_MINUTE: many,
  MYNA_CLONES_PER_MINUTE: many,
  MYNA_TRANSCRIPTIONS_PER_MINUTE: many,
  MYNA_REQUESTS_PER_MINUTE: many,
  MYNA_PUBLIC_PER_MINUTE: many,
  MYNA_OPERATIONS_PER_MINUTE: many,
  MYNA_OPERATIONS_PER_SECOND: many,
  MYNA_MAX_VOICES_PER_ACCOUNT: many,
}

export interface Target {
  dataDir: string
  /** Of the running process. */
  program: Program
  /** The first administrator's key. */
  key: string
  /** Starts it again on the same folder and port. */
  restart(): Promise<void>
  end(): Promise<void>
}

export async function startTarget(): Promise<Target> {
  const dataDir = mkdtempSync(join(tmpdir(), 'myna-attack-'))
  const command = [process.execPath, main]
  const first = await startProgram(dataDir, env, [], command)
  if (first.key === '') throw new Error(`the server did not start: ${first.stderr()}`)
  const { port } = new URL(first.url)
  const target: Target = {
    dataDir,
    program: first,
    key: first.key,
    async restart() {
      target.program = await startProgram(dataDir, env, ['--port', port], command)
    },
    async end() {
      await target.program.end()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return target
}

/** Resident memory in MB and open descriptors. */
export function sizeOf({ pid }: Program): { rssMb: number; descriptors: number } {
  const rss = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { rssMb: Math.round(Number(rss) / 1024), descriptors: readdirSync(`/proc/${pid}/fd`).length }
}

export const uploadsLeft = ({ dataDir }: Target): number => readdirSync(join(dataDir, 'uploads')).length
