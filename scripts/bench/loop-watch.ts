/**
 * Loaded before the program that is measured (`BUN_OPTIONS=--preload=...`): how long its event loop is held, and how
 * much of that time its thread was on a processor, which other programs cannot lengthen. Written once a second to
 * `<pid>.json` in the folder that MYNA_BENCH_LOOPS names.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Between two turns of a timer that is due every 2 ms. */
export interface Hold {
  /** Since 1970. */
  atMs: number
  wallMs: number
  /** On a processor. */
  cpuMs: number
}

const tickMs = 2
/** Shorter ones are not kept. */
const leastCpuMs = 5
const leastWallMs = 20
const writeEveryMs = 1000

function watch(folder: string): void {
  const holds: Hold[] = []
  const path = join(folder, `${process.pid}.json`)
  let [wall, cpu] = [performance.now(), threadCpuMs()]
  let writtenAt = wall
  setInterval(() => {
    const [nowWall, nowCpu] = [performance.now(), threadCpuMs()]
    const [wallMs, cpuMs] = [nowWall - wall, nowCpu - cpu]
    if (cpuMs >= leastCpuMs || wallMs >= leastWallMs) holds.push({ atMs: Date.now(), wallMs, cpuMs })
    if (nowWall - writtenAt >= writeEveryMs) {
      writeFileSync(path, JSON.stringify(holds))
      writtenAt = nowWall
    }
    // What this took is not the program's.
    ;[wall, cpu] = [performance.now(), threadCpuMs()]
  }, tickMs).unref()
}

/** Of the calling thread (Linux). */
function threadCpuMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
}

const folder = process.env.MYNA_BENCH_LOOPS
if (folder !== undefined && Bun.isMainThread) watch(folder)
