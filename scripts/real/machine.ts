/** What all programs of a comparison get alike, and what a table says about the machine. */
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'

export const threads = 2

/** By name, for what computes in a process of its own: as many threads everywhere. */
export const threadSettings = {
  OMP_NUM_THREADS: String(threads),
  OPENBLAS_NUM_THREADS: String(threads),
  MKL_NUM_THREADS: String(threads),
  // Waiting threads must take no processor time: on a busy machine, spinning would be most of the measured time.
  OMP_WAIT_POLICY: 'PASSIVE',
  KMP_BLOCKTIME: '0',
}

/** This process and all that it starts from now on run on the first two cores. @throws Error where that is refused */
export function holdToCores(): void {
  const cores = Array.from({ length: threads }, (_, at) => at).join(',')
  const { exitCode, stderr } = Bun.spawnSync(['taskset', '-acp', cores, String(process.pid)])
  if (exitCode !== 0) throw new Error(`no two cores for the programs: ${stderr.toString().trim()}`)
}

export function processor(): string {
  const info = readFileSync('/proc/cpuinfo', 'utf8')
  const [, name = 'unknown'] = /^model name\s*:\s*(.+)$/m.exec(info) ?? []
  const wide = ['avx512f', 'avx512_vnni', 'avx2'].filter((flag) => info.includes(` ${flag}`))
  return `${name} (${wide.join(', ')})`
}

/** Of the last 1, 5 and 15 minutes. */
export const load = (): string =>
  `load average ${loadavg()
    .map((value) => value.toFixed(1))
    .join(' ')}`
