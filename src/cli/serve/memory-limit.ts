/**
 * Finds how much memory this process may have: the machine's, or less in a container or a systemd unit. Control groups
 * form a tree, and each limit applies to everything below it. Sources: kernel documentation, admin-guide/cgroup-v2 and
 * cgroup-v1/memory.
 */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** Two engines may be full at once, and the server and the system need some, too. */
const engineShare = 0.4

export const defaultModelMemoryBytes = (): number => Math.floor(engineShare * memoryLimitBytes())

/** @param read a file's text; null: the file does not exist */
export function memoryLimitBytes(machineBytes = totalmem(), read: (path: string) => string | null = readText): number {
  const limits = controlGroups(read('/proc/self/cgroup') ?? '').flatMap(({ root, path, file }) =>
    upwards(path).map((folder) => Number(read(join(root, folder, file)) ?? Number.NaN)),
  )
  // Version 2 says `max` when unlimited, version 1 a number near 2^63.
  return Math.min(machineBytes, ...limits.filter((limit) => limit > 0))
}

/** Lines of `number:controllers:path`; version 2 has the one with number 0 and no controllers. */
const controlGroups = (text: string): { root: string; path: string; file: string }[] =>
  text.split('\n').flatMap((line) => {
    const [, number, controllers = '', path = ''] = /^(\d+):([^:]*):(.*)$/.exec(line) ?? []
    if (number === '0' && controllers === '') return [{ root: '/sys/fs/cgroup', path, file: 'memory.max' }]
    if (!controllers.split(',').includes('memory')) return []
    return [{ root: '/sys/fs/cgroup/memory', path, file: 'memory.limit_in_bytes' }]
  })

/** The folder and all above it. In a container the path may be the host's: only its root is there then. */
const upwards = (path: string): string[] => (path === '/' || path === '.' ? [path] : [path, ...upwards(dirname(path))])

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
