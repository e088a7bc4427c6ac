import { expect, test } from 'bun:test'
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileOutput } from '../book/output.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { fileSink } from './sink.ts'

const folder = temporaryFolder()
const path = (name: string) => join(folder, name)
const sound = new Uint8Array([1, 2, 3])

/** Why nothing can be written there. */
const refusal = (place: string): Promise<string> =>
  fileSink(place).then(
    () => 'written',
    (error: Error) => error.message,
  )

test('a file is called .part until it is complete, and replaces the one of its name', async () => {
  writeFileSync(path('a.mp3'), 'former')
  const sink = await fileSink(path('a.mp3'))
  await sink.write(sound)
  expect(readFileSync(path('a.mp3'), 'utf8')).toBe('former')
  await sink.keep()
  expect([...readFileSync(path('a.mp3'))]).toEqual([...sound])
  expect(existsSync(path('a.mp3.part'))).toBe(false)
})

test('a link stays a link, and its file is replaced', async () => {
  mkdirSync(path('music'))
  writeFileSync(path('music/song.mp3'), 'former')
  symlinkSync('music/song.mp3', path('latest.mp3'))
  const sink = await fileSink(path('latest.mp3'))
  await sink.write(sound)
  await sink.keep()
  expect(lstatSync(path('latest.mp3')).isSymbolicLink()).toBe(true)
  expect([...readFileSync(path('music/song.mp3'))]).toEqual([...sound])
})

test('a pipe is written directly and is still there afterwards', async () => {
  for (const open of [() => fileSink(path('pipe')), () => fileOutput(path('pipe'))]) {
    Bun.spawnSync(['mkfifo', path('pipe')])
    const reader = Bun.spawn(['cat', path('pipe')])
    const to = await open()
    await to.write(sound, 0)
    await ('keep' in to ? to.keep() : to.finish())
    expect([...(await reader.stdout.bytes())]).toEqual([...sound])
    expect(lstatSync(path('pipe')).isFIFO()).toBe(true)
    expect(existsSync(path('pipe.part'))).toBe(false)
  }
})

test('what cannot be written is refused before anything is asked of the server, in words', async () => {
  writeFileSync(path('plain'), '')
  expect(await refusal(folder)).toBe(`${folder} is a folder. Name a file in it.`)
  expect(await refusal(path('no/a.mp3'))).toBe(
    `Cannot write ${path('no/a.mp3')}: there is no folder ${path('no')}. Create it first.`,
  )
  expect(await refusal(path('plain/a.mp3'))).toEndWith(`${path('plain')} is not a folder.`)
  expect(await refusal(path('x'.repeat(300)))).toEndWith('the name is too long. Choose a shorter one.')
})

test('a full disk is called a full disk', async () => {
  const sink = await fileSink('/dev/full')
  await expect(sink.write(sound)).rejects.toThrow('the disk is full')
  await sink.leave()
  expect(lstatSync('/dev/full').isCharacterDevice()).toBe(true)
})
