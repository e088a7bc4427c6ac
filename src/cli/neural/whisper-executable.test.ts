/**
 * The compiled executable with Whisper, which it gets from a hub and then from a folder: from the files to subtitles on
 * standard output. The model is `whisper-tiny-words`, because the hashes of its files are not public, so graphs of its
 * shape with random weights can replace it.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { copyFileSync, cpSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from '@plussub/srt-vtt-parser'
import { freshExecutable } from '../../../build/compile.ts'
import { sound } from '../../audio/clip.ts'
import { concatS16 } from '../../audio/pcm.ts'
import { cards } from '../../catalog/cards.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { TestHub } from '../../testing/hub.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { publishFolder, whisperFolder } from '../../testing/small-models.ts'
import { clipRateHz, silence, speech } from '../../testing/speech-clips.ts'

// Real processes, on machines that may be busy with other tests; random weights write endlessly.
setDefaultTimeout(180_000)

const card = cards.find(({ id }) => id === 'whisper-tiny-words')!
const home = temporaryFolder()
const myna = join(home, 'myna')
const talk = join(home, 'talk.wav')
/** A language without spaces, where each character is a word. In others, nonsense is one word or none. */
const japanese = ['--language', 'ja']

let hub: TestHub
let env: Record<string, string>
let program: Program
let subtitles: string
beforeAll(async () => {
  copyFileSync(await freshExecutable(), myna)
  const one = await speech('It rained for days, and the birds in the old garden were silent.')
  const pcm = concatS16([one, silence(1.5), await speech('Then the sun came out again.', 'slt')])
  await Bun.write(talk, sound.wav(pcm, clipRateHz) as Uint8Array<ArrayBuffer>)
  hub = await TestHub.start()
  await publishFolder(hub, card, await whisperFolder())
  const folders = { HOME: home, XDG_CACHE_HOME: join(home, 'cache'), MYNA_DATA: join(home, 'data') }
  env = { PATH: '/usr/bin:/bin', ...folders, HF_ENDPOINT: hub.url }
  program = await startProgram(join(home, 'data'), env, [], [myna])
  Object.assign(env, { MYNA_URL: program.url, MYNA_API_KEY: program.key })
}, 120_000)
afterAll(async () => {
  await program?.end()
  await hub?.stop()
})

const run = (...args: string[]) => runCommand(args, { program: [myna], env })
const transcribe = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await run('transcribe', talk, ...args)
  expect([code, stderr]).toEqual([0, ''])
  return stdout
}

test('a request beyond the built-in model explains how to get a model that can do it', async () => {
  const { code, stderr } = await run('transcribe', talk, ...japanese)
  expect([code, stderr]).toEqual([1, expect.stringContaining('myna models pull whisper-base')])
})

test('pulled from a hub while the server runs, it writes subtitles', async () => {
  const pulled = await run('models', 'pull', card.id)
  expect([pulled.code, pulled.stdout]).toEqual([0, expect.stringContaining(`${card.id} is installed: 6 files`)])
  subtitles = await transcribe('--format', 'srt', ...japanese)
  const { entries } = parse(subtitles)
  expect(entries.length).toBeGreaterThan(1)
  for (const { from, to, text } of entries) expect([from < to, text.trim() !== '']).toEqual([true, true])
  expect((await run('models', 'verify', card.id)).code).toBe(0)
})

test('it reports word times, detects the language and translates', async () => {
  const { words, segments, duration } = JSON.parse(await transcribe('--words', ...japanese)) as {
    words: { word: string; start: number; end: number }[]
    segments: object[]
    duration: number
  }
  expect(words.length).toBeGreaterThan(5)
  expect(words.every(({ start, end }) => start >= 0 && start <= end && end <= duration)).toBe(true)
  for (const segment of segments) expect(Object.keys(segment)).toHaveLength(10)
  const text = await transcribe()
  const { languages } = JSON.parse(await transcribe('--format', 'json')) as { languages: { code: string }[] }
  expect(card.languages).toContain(languages[0]!.code)
  expect([text.trim() === '', (await transcribe('--translate')) === text]).toEqual([false, false])
})

test("removed, and imported from a folder in the hub's layout, it writes the same text", async () => {
  expect((await run('models', 'rm', card.id)).code).toBe(0)
  expect((await run('transcribe', talk, ...japanese)).code).toBe(1)
  const [files, asOnHub] = [await whisperFolder(), temporaryFolder()]
  for (const { name, path } of card.files) {
    mkdirSync(dirname(join(asOnHub, path)), { recursive: true })
    cpSync(join(files, name), join(asOnHub, path))
  }
  const imported = await run('models', 'import', card.id, asOnHub)
  expect([imported.code, imported.stdout]).toEqual([0, expect.stringContaining(`${card.id} is installed: 6 files`)])
  expect(await transcribe('--format', 'srt', ...japanese)).toBe(subtitles)
  expect((await run('doctor')).stdout).toMatch(/ok {4}hearing +Whisper tiny, word times/)
})
