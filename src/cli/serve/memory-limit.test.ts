import { expect, test } from 'bun:test'
import { defaultModelMemoryBytes, memoryLimitBytes } from './memory-limit.ts'

const machineBytes = 16e9
const limitWith = (files: Readonly<Record<string, string>>) =>
  memoryLimitBytes(machineBytes, (path) => files[path] ?? null)

test('without control groups, or without a limit in them, the machine is the limit', () => {
  expect(limitWith({})).toBe(machineBytes)
  expect(limitWith({ '/proc/self/cgroup': '0::/\n', '/sys/fs/cgroup/memory.max': 'max\n' })).toBe(machineBytes)
  const v1 = {
    '/proc/self/cgroup': '4:memory:/\n',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
  }
  expect(limitWith(v1)).toBe(machineBytes)
})

test('a container sees its own limit at the root, whatever the path says', () => {
  const files = { '/proc/self/cgroup': '0::/../../docker/abc\n', '/sys/fs/cgroup/memory.max': '2000000000\n' }
  expect(limitWith(files)).toBe(2e9)
})

test('the lowest limit on the way up applies', () => {
  const files = {
    '/proc/self/cgroup': '1:name=systemd:/x\n0::/system.slice/myna.service\n',
    '/sys/fs/cgroup/system.slice/myna.service/memory.max': 'max\n',
    '/sys/fs/cgroup/system.slice/memory.max': '3000000000\n',
    '/sys/fs/cgroup/memory.max': '4000000000\n',
  }
  expect(limitWith(files)).toBe(3e9)
})

test('version 1 has a separate tree for memory', () => {
  const files = {
    '/proc/self/cgroup': '5:cpu,cpuacct:/a\n4:memory:/a/b\n0::/\n',
    '/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes': '1000000000\n',
    '/sys/fs/cgroup/memory/a/memory.limit_in_bytes': '5000000000\n',
  }
  expect(limitWith(files)).toBe(1e9)
})

test('here, models get a share of what is available', () => {
  expect(defaultModelMemoryBytes()).toBeWithin(1e8, memoryLimitBytes())
})
