/** Previews of voices: complete or missing, and deleted with their voice. */
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
    expect(await files.read('lark', 'wav')).toBeNull()
    await files.remove('lark')
    await files.write('lark', 'wav', bytes('one'))
    await Promise.all([files.write('lark', 'wav', bytes('two')), files.write('lark', 'light.png', bytes('three'))])
    expect(await files.read('lark', 'wav')).toEqual(bytes('two'))
    expect(readdirSync(join(dataDir, 'previews', 'lark')).sort()).toEqual(['light.png', 'wav'])
    await files.remove('lark')
    expect(await files.read('lark', 'light.png')).toBeNull()
    expect(existsSync(join(dataDir, 'previews', 'lark'))).toBe(false)
  })

  test('without a voice are removed at the start, half-written ones too', async () => {
    const dataDir = temporaryFolder()
    const files = new FolderPreviewFiles(dataDir)
    expect(await files.removeOrphans(new Set())).toBe(0)
    await files.write('lark', 'wav', bytes('kept'))
    await files.write('voice_gone', 'wav', bytes('gone'))
    writeFileSync(join(dataDir, 'previews', 'lark', '.new-1'), 'half')
    expect(await files.removeOrphans(new Set(['lark']))).toBe(1)
    expect(readdirSync(join(dataDir, 'previews'))).toEqual(['lark'])
    expect(readdirSync(join(dataDir, 'previews', 'lark'))).toEqual(['wav'])
  })

  test.each(['..', '.', 'a/b', '', '.new-1'])('are never stored at %p', async (id) => {
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
