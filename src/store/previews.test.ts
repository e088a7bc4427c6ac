/** What was made of voices: whole or not there, and gone with its voice. */
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { FolderPreviewFiles } from './previews.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('previews on disk', () => {
  test('are read as they were written, replaced in one step, and removed together', async () => {
    const dataDir = temporaryFolder()
    const files = new FolderPreviewFiles(dataDir)
    expect(await files.read('rms', 'wav')).toBeNull()
    await files.remove('rms')
    await files.write('rms', 'wav', bytes('one'))
    await Promise.all([files.write('rms', 'wav', bytes('two')), files.write('rms', 'light.png', bytes('three'))])
    expect(await files.read('rms', 'wav')).toEqual(bytes('two'))
    expect(readdirSync(join(dataDir, 'previews', 'rms')).sort()).toEqual(['light.png', 'wav'])
    await files.remove('rms')
    expect(await files.read('rms', 'light.png')).toBeNull()
    expect(existsSync(join(dataDir, 'previews', 'rms'))).toBe(false)
  })

  test('of nobody go at the start, half-written ones too', async () => {
    const dataDir = temporaryFolder()
    const files = new FolderPreviewFiles(dataDir)
    expect(await files.removeOrphans(new Set())).toBe(0)
    await files.write('rms', 'wav', bytes('kept'))
    await files.write('voice_gone', 'wav', bytes('gone'))
    writeFileSync(join(dataDir, 'previews', 'rms', '.new-1'), 'half')
    expect(await files.removeOrphans(new Set(['rms']))).toBe(1)
    expect(readdirSync(join(dataDir, 'previews'))).toEqual(['rms'])
    expect(readdirSync(join(dataDir, 'previews', 'rms'))).toEqual(['wav'])
  })

  test.each(['..', '.', 'a/b', '', '.new-1'])('never lie at %p', async (id) => {
    const dataDir = temporaryFolder()
    mkdirSync(join(dataDir, 'previews'))
    const files = new FolderPreviewFiles(dataDir)
    for (const call of [
      () => files.write(id, 'wav', bytes('x')),
      () => files.remove(id),
      () => files.read(id, 'wav'),
    ]) {
      expect(await call().catch((error: unknown) => String(error))).toContain('cannot name a folder')
    }
    expect(existsSync(dataDir)).toBe(true)
  })
})
