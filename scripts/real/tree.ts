/** What a process and all that it has started take. */
import { readdirSync, readFileSync } from 'node:fs'
import { cpuTicks } from '../../src/testing/process.ts'

const ticksPerSecond = 100

export const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )

const treeOf = (pid: number): number[] => [pid, ...childrenOf(pid).flatMap(treeOf)]

/** Processor seconds. The time of a process that has ended would be lost: none may end between two calls. */
export const cpuOf = (pid: number): number => treeOf(pid).reduce((sum, one) => sum + cpuTicks(one), 0) / ticksPerSecond

/** Resident bytes at its peak. */
export const peakOf = (pid: number): number => statusBytes(pid, /^VmHWM:\s+(\d+)/m)

export const residentOf = (pid: number): number => statusBytes(pid, /^VmRSS:\s+(\d+)/m)

/** The sum of each process's peak, which they need not have had at the same time. */
export const peakOfTree = (pid: number): number => treeOf(pid).reduce((sum, one) => sum + peakOf(one), 0)

const statusBytes = (pid: number, field: RegExp): number =>
  1024 * Number(field.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
