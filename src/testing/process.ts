/** What the system reports about a process (Linux). */
import { existsSync, readFileSync } from 'node:fs'

/** Gone, or a zombie that its parent has not reaped: kill(pid, 0) succeeds on zombies. */
export const isDead = (pid: number): boolean => !existsSync(`/proc/${pid}/stat`) || statOf(pid)[0] === 'Z'

/** Of the system's clock, as it is on every kernel that we know. */
export const tickMs = 10

/** Processor time used so far, in ticks. */
export function cpuTicks(pid: number): number {
  const stat = statOf(pid)
  return Number(stat[11]) + Number(stat[12])
}

/** 0: like any other process; a higher number means a lower priority. */
export const nicenessOf = (pid: number): number => Number(statOf(pid)[16])

/** The fields from the state on. The name before it may contain spaces. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return ['Z']
  }
}
