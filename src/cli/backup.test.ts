/** Backups of a working server, and restoring them: the commands as users run them, on real data folders. */
import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pack } from 'tar-stream'
import { audit } from '../audit/audit.ts'
import { readArchive } from '../backup/archive.ts'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { hum, type Instance, startInstance } from '../testing/instance.ts'
import { Seeded } from '../testing/seeded.ts'

const myna = (...args: string[]) => runCommand(args)
const idsOf = async (instance: Instance, key: string) => {
  const { data } = (await (await instance.fetch('/v1/voices?limit=100', { key })).json()) as { data: { id: string }[] }
  return data.map(({ id }) => id).sort()
}

/** A data folder with an account, a voice and finished work. */
async function workedFolder(): Promise<{ dataDir: string; key: string; voiceId: string; consent: string }> {
  const dataDir = temporaryFolder()
  await using instance = await startInstance({ dataDir })
  const key = await instance.key()
  await (await instance.speak(key)).arrayBuffer()
  const form = new FormData()
  for (const [name, value] of Object.entries({ name: 'Ada', language: 'en', recording: hum(4) }))
    form.append(name, value)
  const agreed = await instance.fetch('/v1/audio/voice_consents', { method: 'POST', key, body: form })
  const { id: consent } = (await agreed.json()) as { id: string }
  const { voice_id: voiceId } = await instance.cloned(key, { name: 'Ada', consent })
  return { dataDir, key, voiceId, consent }
}

/** With a backup of it. */
async function backedUp() {
  const folder = await workedFolder()
  const file = join(temporaryFolder(), 'myna.tar')
  const made = await myna('backup', file, '--data', folder.dataDir)
  expect(made).toMatchObject({ code: 0 })
  return { ...folder, file }
}

test('a backup of a server at work is complete, and a server on it has everything from one moment', async () => {
  const dataDir = temporaryFolder()
  const file = join(temporaryFolder(), 'myna.tar')
  await using instance = await startInstance({ dataDir, clonesPerMinute: 1000 })
  const key = await instance.key()
  const kept = await instance.cloned(key, { name: 'kept' })
  let done = false
  const work = (async () => {
    while (!done) {
      await (await instance.speak(key)).arrayBuffer()
      const { voice_id: id } = await instance.cloned(key, { name: 'brief' })
      await instance.fetch(`/v1/voices/${id}`, { method: 'DELETE', key })
    }
  })()
  const made = await myna('backup', file, '--data', dataDir, '--json')
  done = true
  await work
  expect(made).toMatchObject({ code: 0, stderr: '' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(dataDir).filter((name) => name.startsWith('.backup'))).toEqual([])
  const other = temporaryFolder()
  expect(await myna('restore', file, '--data', other)).toMatchObject({ code: 0 })
  expect((await audit(other, 'full')).faults).toEqual([])
  await using restored = await startInstance({ dataDir: other })
  expect((await restored.fetch('/v1/me', { key })).status).toBe(200)
  expect(await idsOf(restored, key)).toContain(kept.voice_id)
  const heard = await restored.speak(key, { voice: kept.voice_id })
  expect([heard.status, (await heard.arrayBuffer()).byteLength > 0]).toEqual([200, true])
}, 60_000)

test('restore keeps the old folder, and asks before it moves it', async () => {
  const { dataDir, key, file, consent } = await backedUp()
  const later = await (async () => {
    await using instance = await startInstance({ dataDir }, { random: new Seeded(8).fill })
    return instance.key({ account: 'later' })
  })()
  const refused = await myna('restore', file, '--data', dataDir)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('With --replace it moves aside')])
  const done = await myna('restore', file, '--data', dataDir, '--replace')
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('The old data is kept in')])
  await using instance = await startInstance({ dataDir })
  expect((await instance.fetch('/v1/me', { key })).status).toBe(200)
  expect((await instance.fetch('/v1/me', { key: later })).status).toBe(401)
  const recording = join('consents', consent, 'recording')
  expect(readFileSync(join(dataDir, recording))).toEqual(Buffer.from(await hum(4).arrayBuffer()))
  const former = readdirSync(dataDir).find((name) => name.startsWith('before-restore-'))
  expect((await audit(join(dataDir, former ?? ''), 'full')).faults).toEqual([])
}, 60_000)

test('restore is refused under a running server', async () => {
  const { dataDir, file } = await backedUp()
  await using _ = await startInstance({ dataDir })
  const refused = await myna('restore', file, '--data', dataDir, '--replace')
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Stop it first')])
}, 60_000)

test('the next restore completes an interrupted one, and nothing starts before that', async () => {
  const { dataDir, key, file } = await backedUp()
  writeFileSync(join(dataDir, 'restore-unfinished'), file)
  await expect(startInstance({ dataDir })).rejects.toThrow(
    /A restore of .* was interrupted. Run it again: myna restore/,
  )
  expect(await myna('restore', file, '--data', dataDir)).toMatchObject({ code: 0 })
  await using instance = await startInstance({ dataDir })
  expect((await instance.fetch('/v1/me', { key })).status).toBe(200)
}, 60_000)

describe('an unusable file changes nothing', () => {
  test('flipped bits, anywhere', async () => {
    const { file } = await backedUp()
    const whole = readFileSync(file)
    const random = new Seeded(17)
    const found: string[] = []
    for (let turn = 0; turn < 200; turn++) {
      const at = random.whole(0, whole.length - 1)
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 1 << random.whole(0, 7)
      const path = join(temporaryFolder(), 'damaged.tar')
      writeFileSync(path, damaged)
      const manifest = await readArchive(path, null).catch((error: Error) => error.message)
      if (typeof manifest === 'string') found.push(manifest)
      // Bytes between the files and the dates in their headers are unused. What is read must equal what was written.
      else expect(manifest).toEqual(await readArchive(file, null))
    }
    expect(found.length).toBeGreaterThan(150)
  }, 60_000)

  test('cut off, foreign, or with paths that climb out', async () => {
    const { file } = await backedUp()
    const dataDir = temporaryFolder()
    const cut = join(temporaryFolder(), 'cut.tar')
    writeFileSync(cut, readFileSync(file).subarray(0, 5000))
    const foreign = pack()
    foreign.entry({ name: '../../evil' }, 'x')
    foreign.finalize()
    const climbing = join(temporaryFolder(), 'climbing.tar')
    writeFileSync(climbing, Buffer.concat(await Array.fromAsync(foreign as AsyncIterable<Uint8Array>)))
    for (const [path, words] of [
      [cut, 'is not a backup, or is damaged'],
      [climbing, 'is not part of a backup'],
      [import.meta.path, 'is not a backup, or is damaged'],
      ['/nonexistent.tar', 'There is no file /nonexistent.tar.'],
      [dataDir, 'is not a file. Name one that myna backup wrote.'],
    ] as const) {
      const refused = await myna('restore', path, '--data', dataDir)
      expect([path, refused.code, refused.stderr]).toEqual([path, 1, expect.stringContaining(words)])
    }
    const nowhere = await myna('backup', join(dataDir, 'no', 'b.tar'), '--data', dataDir)
    expect(nowhere.stderr).toContain(`there is no folder ${join(dataDir, 'no')}`)
    expect(readdirSync(dataDir).filter((name) => name !== 'server.lock')).toEqual([])
  }, 60_000)
})

test('damaged data is not backed up, and audit and doctor name the damage', async () => {
  const { dataDir, voiceId } = await workedFolder()
  expect(await myna('audit', '--data', dataDir)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('every rule holds'),
  })
  writeFileSync(join(dataDir, 'voices', voiceId, 'clip'), 'another clip')
  const found = await myna('audit', '--data', dataDir, '--json')
  const { healthy, faults } = JSON.parse(found.stdout) as { healthy: boolean; faults: { rule: string }[] }
  expect([found.code, healthy, faults.map(({ rule }) => rule)]).toEqual([1, false, ['clip of a voice']])
  const file = join(temporaryFolder(), 'myna.tar')
  const refused = await myna('backup', file, '--data', dataDir)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('is not the one that was uploaded')])
  expect(existsSync(file)).toBe(false)
}, 60_000)
