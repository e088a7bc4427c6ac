import { expect, test } from 'bun:test'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { type DriverFacts, driverTrouble, driverVersion, examineDriver } from './driver.ts'

function machine(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    if (content.startsWith('-> ')) symlinkSync(content.slice(3), join(root, path))
    else writeFileSync(join(root, path), content)
  }
  return root
}

const closed =
  'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue Sep  1 10:00:00 UTC 2026\nGCC version: 13\n'
const open = 'NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder)\n'
const healthy = {
  'proc/driver/nvidia/version': closed,
  'usr/lib64/libcuda.so.580.159.04': '',
  'usr/lib64/libcuda.so.1': '-> libcuda.so.580.159.04',
  'dev/nvidia0': '',
  'dev/nvidiactl': '',
  'dev/nvidia-uvm': '',
  'sys/bus/pci/devices/0000:01:00.0/vendor': '0x10de\n',
  'sys/bus/pci/devices/0000:01:00.0/class': '0x030000\n',
}

test('a healthy machine', () => {
  const root = machine(healthy)
  const facts = examineDriver(root)
  expect(facts).toEqual({
    kernel: '580.159.04',
    library: { path: join(root, 'usr/lib64/libcuda.so.1'), version: '580.159.04' },
    devices: ['nvidia-uvm', 'nvidia0', 'nvidiactl'].map((name) => ({ path: `/dev/${name}`, error: null })),
    isWsl: false,
    container: null,
    hasCard: true,
  })
  expect(driverVersion(facts)).toBe('580.159.04')
  expect(driverTrouble(facts, 13)).toBeNull()
  expect(driverTrouble(facts, null)).toBeNull()
})

test('recognises the open kernel module, and a machine without a driver', () => {
  expect(examineDriver(machine({ 'proc/driver/nvidia/version': open })).kernel).toBe('580.95.05')
  const nothing = { kernel: null, library: null, devices: [], isWsl: false, container: null, hasCard: false }
  expect(examineDriver(temporaryFolder())).toEqual(nothing)
  expect(driverVersion(nothing)).toBeNull()
})

test('ignores an NVIDIA audio device and a dangling link', () => {
  const facts = examineDriver(
    machine({
      'sys/bus/pci/devices/0000:01:00.1/vendor': '0x10de\n',
      'sys/bus/pci/devices/0000:01:00.1/class': '0x040300\n',
      'dev/nvidia0': '-> nothing',
    }),
  )
  expect(facts.hasCard).toBe(false)
  expect(facts.devices).toEqual([{ path: '/dev/nvidia0', error: 'ENOENT' }])
})

const without = (...names: (keyof typeof healthy)[]) =>
  Object.fromEntries(Object.entries(healthy).filter(([name]) => !names.some((start) => name.startsWith(start))))
const noLibrary = without('usr/lib64/libcuda.so.1', 'usr/lib64/libcuda.so.580.159.04')
const card = without(...(Object.keys(noLibrary).filter((name) => !name.startsWith('sys')) as (keyof typeof healthy)[]))
const noDriver = Object.fromEntries(Object.entries(card).filter(([name]) => !name.startsWith('usr')))
const noDevices = without('dev/nvidia0', 'dev/nvidiactl', 'dev/nvidia-uvm')
const docker = { '.dockerenv': '' }

test.each([
  ['nothing', {}, 'no NVIDIA driver, and no NVIDIA card', 'CUDA needs an NVIDIA card.'],
  ['a card alone', noDriver, 'there is an NVIDIA card, but no driver', 'Install one: https://www.nvidia.com/drivers'],
  ['a container', docker, 'there is no NVIDIA driver in this Docker container', 'start the container with --gpus all'],
  [
    'a container that sees the kernel alone',
    { ...noLibrary, ...docker },
    'the kernel has NVIDIA driver 580.159.04, and there is no libcuda.so.1 in this Docker container',
    '--gpus all',
  ],
  [
    'a driver without its CUDA library',
    noLibrary,
    'the kernel has NVIDIA driver 580.159.04, and there is no libcuda.so.1',
    "Install the driver's CUDA library",
  ],
  [
    'a library without the module',
    { 'usr/lib64/libcuda.so.1': '' },
    '/usr/lib64/libcuda.so.1 exists, but the kernel has not loaded',
    'sudo modprobe nvidia',
  ],
  [
    'a driver that was updated while it ran',
    { ...healthy, 'proc/driver/nvidia/version': open },
    'the kernel has NVIDIA driver 580.95.05, but libcuda.so.1 is version 580.159.04',
    'restart the machine',
  ],
  ['no device files', noDevices, 'NVIDIA driver 580.159.04 is loaded, but there is no /dev/nvidia0', 'nvidia-modprobe'],
  [
    'a Podman container without devices',
    { ...noDevices, 'run/.containerenv': '' },
    'but there is no /dev/nvidia0 in this Podman container',
    'NVIDIA Container Toolkit',
  ],
  [
    'a device that is none',
    { ...healthy, 'dev/nvidia-uvm': '-> nothing' },
    '/dev/nvidia-uvm cannot be opened (ENOENT)',
    'nvidia-smi',
  ],
])('%s', (_, files, message, remedy) => {
  const trouble = driverTrouble(examineDriver(machine(files)), 13)
  expect(trouble?.message).toContain(message)
  expect(trouble?.remedy).toContain(remedy)
})

const facts: DriverFacts = {
  kernel: '580.159.04',
  library: { path: '/usr/lib/libcuda.so.1', version: '580.159.04' },
  devices: [{ path: '/dev/nvidia0', error: null }],
  isWsl: false,
  container: null,
  hasCard: true,
}

test('reports devices that this user may not open, and devices that this container may no longer open', () => {
  const refused = (error: string, container: string | null) =>
    driverTrouble({ ...facts, container, devices: [{ path: '/dev/nvidia0', error }] }, 13)
  expect(refused('EACCES', null)).toEqual({
    message: '/dev/nvidia0 cannot be opened (EACCES)',
    remedy: 'Add the user who runs Myna to its group (ls -l /dev/nvidia0 shows it): sudo usermod -aG GROUP USER',
  })
  expect(refused('EPERM', 'Docker')?.remedy).toBe(
    'The host took the device away from this container: restart the container.',
  )
})

test.each([
  ['580.65.06', 13, null],
  ['579.99', 13, 'NVIDIA driver 579.99 is too old: CUDA 13 needs 580 or newer'],
  ['535.183.01', 12, null],
  ['470.256.02', 12, 'NVIDIA driver 470.256.02 is too old: CUDA 12 needs 525 or newer'],
  ['470.256.02', null, null],
  ['590.10', 99, null],
])('driver %p and CUDA %p', (version, cudaMajor, message) => {
  const driver = { ...facts, kernel: version, library: { path: '/usr/lib/libcuda.so.1', version } }
  expect(driverTrouble(driver, cudaMajor)?.message ?? null).toBe(message)
})

test('in a container the library may be newer than the module of the host, and then says which CUDA runs', () => {
  const compat = {
    ...without('usr/lib64/libcuda.so.1', 'usr/lib64/libcuda.so.580.159.04'),
    ...docker,
    'proc/driver/nvidia/version': closed.replace('580.159.04', '570.124.06'),
    'usr/local/cuda/compat/libcuda.so.580.82.07': '',
    'usr/lib64/libcuda.so.1': '-> ../local/cuda/compat/libcuda.so.580.82.07',
  }
  const found = examineDriver(machine(compat))
  expect(driverTrouble(found, 13)).toBeNull()
  expect(driverVersion(found)).toBe('580.82.07')
  const older = { ...found, kernel: '590.10' }
  expect(driverVersion(older)).toBe('590.10')
  expect(driverTrouble(older, 13)?.message).toBe(
    'the kernel has NVIDIA driver 590.10, but libcuda.so.1 is version 580.82.07',
  )
})

test("Windows' driver needs neither the module nor the device files of Linux, and gVisor has no version file", () => {
  const wsl = examineDriver(machine({ 'usr/lib/wsl/lib/libcuda.so.1': '', 'dev/dxg': '' }))
  expect(wsl).toMatchObject({ isWsl: true, kernel: null, library: { version: null } })
  expect(driverTrouble(wsl, 13)).toBeNull()
  expect(driverTrouble({ ...facts, kernel: null }, 13)).toBeNull()
})
