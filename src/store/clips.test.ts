/** A voice's files: all or none, on a full disk, after a crash, and for any id. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { VoiceFile } from '../service/ports.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { until } from '../testing/until.ts'
import { childCommand, startChild } from './children.fixture.ts'
import type { Child } from './children.fixture.ts'
import { FolderVoiceFiles } from './clips.ts'

// Every write waits for the disk, which may be busy.
setDefaultTimeout(30_000)

const names: readonly VoiceFile[] = ['clip', 'reference.wav', 'state', 'preview.wav']

function filesOf(seed: number, size = 1000): Record<VoiceFile, Uint8Array> {
  const [clip, reference, state, preview] = names.map((_, index) => new Uint8Array(size).fill(seed + index))
  return { clip: clip!, 'reference.wav': reference!, state: state!, 'preview.wav': preview! }
}

function setUp() {
  const dataDir = temporaryFolder()
  return { files: new FolderVoiceFiles(dataDir), root: join(dataDir, 'voices'), dataDir }
}

/** The voice's files, by their first byte; null for a missing file. */
const found = (files: FolderVoiceFiles, id: string) =>
  Promise.all(names.map(async (name) => (await files.read(id, name))?.[0] ?? null))

const none = [null, null, null, null]

test('are read as they were written, and gone when removed', async () => {
  const { files, root } = setUp()
  const put = filesOf(1)
  expect(await found(files, 'voice_1')).toEqual(none)
  await files.remove('voice_1')
  await files.put('voice_1', put)
  for (const name of names) expect(await files.read('voice_1', name)).toEqual(put[name])
  expect(await found(files, 'voice_2')).toEqual(none)
  await files.remove('voice_1')
  expect(await found(files, 'voice_1')).toEqual(none)
  expect(readdirSync(root)).toEqual([])
})

test('are readable for their account only', async () => {
  const { files, root } = setUp()
  await files.put('voice_1', filesOf(1))
  const mode = (path: string) => statSync(path).mode & 0o777
  expect([mode(root), mode(join(root, 'voice_1'))]).toEqual([0o700, 0o700])
  for (const name of names) expect(mode(join(root, 'voice_1', name))).toBe(0o600)
})

test('are replaced together when written again', async () => {
  const { files, root } = setUp()
  await files.put('voice_1', filesOf(1))
  let replaced = false
  const seen = new Set<string>()
  const reading = (async () => {
    while (!replaced) seen.add(String((await files.read('voice_1', 'state'))?.[0]))
  })()
  for (let round = 0; round < 20; round++) await files.put('voice_1', filesOf(round % 2 === 0 ? 11 : 1))
  replaced = true
  await reading
  expect([...seen].filter((value) => value !== '3' && value !== '13')).toEqual([])
  await files.put('voice_1', filesOf(21))
  expect(await found(files, 'voice_1')).toEqual([21, 22, 23, 24])
  expect(readdirSync(root)).toEqual(['voice_1'])
})

test.each(['', '.', '..', '../x', '.new-x', '.old-voice_1', 'a/b', 'a\\b', 'a\0b', 'x'.repeat(129), 'ä', 'a b'])(
  'of an id like %p are missing',
  async (id) => {
    const { files, dataDir, root } = setUp()
    await files.put('voice_1', filesOf(1))
    writeFileSync(join(dataDir, 'state'), 'not a voice’s')
    mkdirSync(join(dataDir, 'x'))
    const before = readdirSync(dataDir, { recursive: true }).sort()
    expect(await found(files, id)).toEqual(none)
    await files.remove(id)
    const refused = await files.put(id, filesOf(1)).catch((error: unknown) => error)
    expect(String(refused)).toContain('cannot name a folder')
    expect(readdirSync(dataDir, { recursive: true }).sort()).toEqual(before)
    expect(existsSync(join(root, 'voice_1'))).toBe(true)
  },
)

describe('the remains of a crash', () => {
  test('are removed; files of voices and foreign files stay', async () => {
    const { files, root } = setUp()
    expect(await files.removeOrphans(new Set())).toBe(0)
    for (const id of ['voice_1', 'voice_2', 'voice_3']) await files.put(id, filesOf(1))
    renameSync(join(root, 'voice_3'), join(root, '.new-a'))
    for (const name of ['.gone-b', '.old-voice_1', '.old-voice_9', 'lost+found', '.snapshot'])
      mkdirSync(join(root, name))
    writeFileSync(join(root, 'README'), '')
    expect(await files.removeOrphans(new Set(['voice_1', 'voice_4']))).toBe(5)
    expect(readdirSync(root).sort()).toEqual(['.snapshot', 'README', 'lost+found', 'voice_1'])
    expect(await found(files, 'voice_1')).toEqual([1, 2, 3, 4])
  })

  test('between the two steps of a replacement are restored', async () => {
    const { files, root } = setUp()
    await files.put('voice_1', filesOf(1))
    renameSync(join(root, 'voice_1'), join(root, '.old-voice_1'))
    expect(await files.removeOrphans(new Set(['voice_1']))).toBe(0)
    expect(await found(files, 'voice_1')).toEqual([1, 2, 3, 4])
    expect(readdirSync(root)).toEqual(['voice_1'])
  })

  test('by SIGKILL in the middle of writing are never half a voice', async () => {
    const { files, root, dataDir } = setUp()
    let halves = 0
    for (let round = 0; round < 5; round++) {
      const child = startChild(childCommand('put', dataDir, '3000000'))
      for (let lines = 0; lines <= round % 3; lines++) expect(await child.line()).not.toBe('')
      await until('a folder is being written', () => readdirSync(root).some((name) => name.startsWith('.new-')))
      child.process.kill('SIGKILL')
      await child.process.exited
      const ids = readdirSync(root).filter((name) => !name.startsWith('.'))
      expect(ids.length).toBeGreaterThan(round % 3)
      for (const id of ids) {
        for (const name of names) expect((await files.read(id, name))?.length).toBe(3_000_000)
      }
      halves += readdirSync(root).length - ids.length
      await files.removeOrphans(new Set(ids))
      expect(readdirSync(root).sort()).toEqual(ids.sort())
      await files.removeOrphans(new Set())
      expect(readdirSync(root)).toEqual([])
    }
    // A kill that never met a write would prove nothing.
    expect(halves).toBeGreaterThan(0)
  })
})

describe('a full disk', () => {
  const quoted = (dataDir: string, size: number) =>
    childCommand('put', dataDir, String(size))
      .map((word) => `'${word}'`)
      .join(' ')

  /** The child fails in the end. It still has what it wrote before, and nothing of what it could not write. */
  async function expectRefusal(child: Child, size: number): Promise<void> {
    let line = ''
    let turns = 0
    while (/^\d*$/.test((line = await child.line())) && line !== '') turns++
    expect(line).toMatch(/^storage_full (ENOSPC|EFBIG) \d+$/)
    for (let turn = 0; turn < turns; turn++) expect(await child.line()).toBe(`${turn} ${size}`)
    expect(await child.line()).toBe(`${turns} none`)
    expect(await child.line()).toBe('no half')
    await child.process.exited
  }

  const canMount = Bun.spawnSync(['unshare', '-m', 'true']).exitCode === 0

  // A disk of our own in a separate name space: it disappears with the process in any case.
  test.skipIf(!canMount)('refuses what does not fit, and leaves nothing of it (needs the right to mount)', async () => {
    for (const size of [1000, 100_000, 700_000]) {
      const { dataDir } = setUp()
      const mount = `mount -t tmpfs -o size=1m tmpfs '${dataDir}'`
      const child = startChild(['unshare', '-m', 'sh', '-c', `${mount} && exec ${quoted(dataDir, size)}`])
      await expectRefusal(child, size)
    }
  })

  test('includes one that limits the size of a file', async () => {
    const { dataDir } = setUp()
    // In KiB, or half of them. When the signal is ignored, write() fails with an error.
    const child = startChild(['sh', '-c', `trap '' XFSZ; ulimit -f 1000; exec ${quoted(dataDir, 2_000_000)}`])
    await expectRefusal(child, 2_000_000)
  })
})
