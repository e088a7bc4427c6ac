/**
 * Books spoken by the real program: its server, its voice, its codecs. ffprobe reads the result where it is installed.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { epubOf } from '../../book/book.fixture.ts'
import { finished, runCommand, startCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { until } from '../../testing/until.ts'

// Real engines, on machines that may be busy with other tests.
setDefaultTimeout(180_000)

let program: Program
const folder = temporaryFolder()
beforeAll(async () => {
  program = await startProgram(temporaryFolder(), { MYNA_SPEECH_PER_MINUTE: '10000' })
})
afterAll(() => program.end())

const path = (name: string) => join(folder, name)
const env = () => ({ MYNA_URL: program.url, MYNA_API_KEY: program.key })
const speak = (...args: string[]) => runCommand(['speak', ...args], { env: env() })

interface Probe {
  chapters: { start_time: string; end_time: string; tags: { title: string } }[]
  format: { duration: string; tags: Record<string, string> }
}

/** What an independent reader finds; null if this machine has none. */
function probed(name: string): Probe | null {
  const ffprobe = Bun.which('ffprobe')
  if (ffprobe === null) return null
  const flags = ['-v', 'error', '-of', 'json', '-show_chapters', '-show_format']
  const { stdout, stderr } = Bun.spawnSync([ffprobe, ...flags, path(name)])
  expect(stderr.toString()).toBe('')
  return JSON.parse(stdout.toString()) as Probe
}

/** Samples at 24 kHz, as ffmpeg decodes the file. */
function decoded(name: string): Int16Array | null {
  const ffmpeg = Bun.which('ffmpeg')
  if (ffmpeg === null) return null
  const { stdout } = Bun.spawnSync([ffmpeg, '-v', 'error', '-i', path(name), '-f', 's16le', '-ar', '24000', '-'])
  return new Int16Array(stdout.buffer, stdout.byteOffset, stdout.byteLength >> 1)
}

function expectChapters(name: string, seconds: number): void {
  const probe = probed(name)
  if (probe === null) return
  expect(probe.chapters.map(({ tags }) => tags.title)).toEqual(['One: the myna', 'Two', 'Three'])
  expect(probe.format.tags).toMatchObject({ title: 'Birds & Cafés', artist: 'Ada Swift' })
  expect(Number(probe.format.duration)).toBeCloseTo(seconds, 0)
  expect(Number(probe.chapters[0]?.start_time)).toBe(0)
  for (const [at, chapter] of probe.chapters.entries()) {
    const next = probe.chapters[at + 1]
    if (next !== undefined) expect(chapter.end_time).toBe(next.start_time)
  }
}

test('an EPUB becomes one M4B and one MP3 with chapter marks, as long as the speech and its pauses', async () => {
  writeFileSync(path('birds.epub'), epubOf())
  const made = await speak(path('birds.epub'), '-o', path('birds.m4b'), '--json')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const result = JSON.parse(made.stdout) as { seconds: number }
  expect(result).toMatchObject({ file: path('birds.m4b'), chapters: 3, reused_pieces: 0 })
  expect(result.seconds).toBeGreaterThan(8)
  expectChapters('birds.m4b', result.seconds)
  // Players of Apple read the track of titles, others the box: each alone has all of them.
  const bytes = readFileSync(path('birds.m4b'))
  for (const [name, way] of [
    ['track.m4b', 'chpl'],
    ['box.m4b', 'chap'],
  ] as const) {
    const at = bytes.lastIndexOf(way)
    expect(at).toBeGreaterThan(0)
    writeFileSync(path(name), Buffer.concat([bytes.subarray(0, at), Buffer.from('free'), bytes.subarray(at + 4)]))
    expectChapters(name, result.seconds)
  }
  const again = await speak(path('birds.epub'), '-o', path('birds.mp3'))
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('of audio in 3 chapters from')])
  expect(again.stderr).toContain('One: the myna')
  expectChapters('birds.mp3', result.seconds)
  expect(readdirSync(folder).filter((name) => /part|pieces/.test(name))).toEqual([])
})

test('chapters begin where they are spoken, and the joins between pieces are silent', async () => {
  const samples = decoded('birds.m4b')
  const marks = probed('birds.m4b')?.chapters
  if (samples === null || marks === undefined) return
  const loudest = (fromS: number, toS: number) =>
    samples.subarray(fromS * 24_000, toS * 24_000).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
  for (const { start_time: start } of marks.slice(1)) {
    expect(loudest(Number(start) - 1, Number(start) - 0.1)).toBeLessThan(40)
    expect(loudest(Number(start), Number(start) + 1)).toBeGreaterThan(1000)
  }
})

test('a text file becomes Opus, encoded where the command runs', async () => {
  writeFileSync(path('note.txt'), 'The first line of a note.\n\nAnd another one.')
  const made = await speak(path('note.txt'), '-o', path('note.opus'), '--json')
  expect(made).toMatchObject({ code: 0, stderr: '' })
  const { seconds } = JSON.parse(made.stdout) as { seconds: number }
  expect(readFileSync(path('note.opus')).subarray(0, 36).toString('latin1')).toMatch(/^OggS[^]*OpusHead$/)
  const probe = probed('note.opus')
  if (probe !== null) expect(Number(probe.format.duration)).toBeCloseTo(seconds, 1)
})

test('a text longer than one request is spoken whole, from standard input, with captions for all of it', async () => {
  const sentence = (at: number) => `This is sentence number ${at} of a text that is far too long for a single request.`
  const stdin = Array.from({ length: 60 }, (_, at) => sentence(at + 1)).join(' ')
  expect(stdin.length).toBeGreaterThan(4096)
  const args = ['say', '-', '-o', path('long.wav'), '--captions', path('long.srt'), '--json']
  const made = await runCommand(args, { env: env(), stdin })
  expect(made.code).toBe(0)
  const { seconds, chapters } = JSON.parse(made.stdout) as { seconds: number; chapters: number }
  expect(chapters).toBe(1)
  expect(statSync(path('long.wav')).size).toBe(44 + Math.round(seconds * 24_000) * 2)
  expect(readFileSync(path('long.wav')).readUInt32LE(40)).toBe(Math.round(seconds * 24_000) * 2)
  const cues = [...readFileSync(path('long.srt'), 'utf8').matchAll(/(\d+):(\d+):(\d+),(\d+) --> /g)]
  const starts = cues.map(([, h, m, s, ms]) => Number(h) * 3600 + Number(m) * 60 + Number(s) + Number(ms) / 1000)
  expect(starts.length).toBeGreaterThanOrEqual(60)
  expect(starts).toEqual(starts.toSorted((a, b) => a - b))
  expect(starts.at(-1)).toBeGreaterThan(seconds - 15)
})

test('a command that was stopped in the middle continues from there', async () => {
  const chapters = Array.from({ length: 6 }, (_, at) => `# Chapter ${at + 1}\n\nThese are the words of part ${at + 1}.`)
  writeFileSync(path('notes.md'), chapters.join('\n\n'))
  const command = startCommand(['speak', path('notes.md'), '-o', path('notes.mp3')], { env: env() })
  const kept = () => (existsSync(path('notes.mp3.pieces')) ? readdirSync(path('notes.mp3.pieces')) : [])
  await until('two pieces', () => kept().filter((name) => name.endsWith('.pcm')).length >= 2)
  command.kill('SIGKILL')
  await finished(command)
  expect(existsSync(path('notes.mp3'))).toBe(false)
  const spoken = kept().filter((name) => name.endsWith('.pcm')).length
  const rest = await speak(path('notes.md'), '-o', path('notes.mp3'), '--json')
  const result = JSON.parse(rest.stdout) as { reused_pieces: number; chapters: number }
  expect(result).toMatchObject({ chapters: 6, reused_pieces: spoken })
  expect(probed('notes.mp3')?.chapters.length ?? 6).toBe(6)
  expect(existsSync(path('notes.mp3.pieces'))).toBe(false)
})

test('the name of a removed voice is warned of once, however many pieces are spoken with its successor', async () => {
  writeFileSync(path('former.md'), '# One\n\nFirst words.\n\n# Two\n\nLast words.')
  const [former, successor] = await Promise.all(
    ['slt', 'lark'].map((voice) => speak(path('former.md'), '-o', path(`${voice}.mp3`), '--voice', voice)),
  )
  const warning = "The voice 'slt' was removed and stands for 'lark' until the next release. Use 'lark'."
  expect([former!.code, former!.stderr.split(warning).length - 1]).toEqual([0, 1])
  expect([successor!.code, successor!.stderr.includes('removed')]).toEqual([0, false])
})

test('a failure in the middle says what is kept', async () => {
  writeFileSync(path('far.md'), '# One\n\nFirst.\n\n# Two\n\nSecond.')
  let left = 1
  const proxy = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      const error = { message: 'It is full.', type: 'x', param: null, code: 'storage_full' }
      if (pathname.endsWith('/speech') && left-- <= 0) return Response.json({ error }, { status: 507 })
      const { method, headers, body } = request
      return fetch(`${program.url}${pathname}`, { method, headers, body })
    },
  })
  const made = await runCommand(['speak', path('far.md'), '-o', path('far.mp3')], {
    env: { ...env(), MYNA_URL: proxy.url.href },
  })
  await proxy.stop(true)
  expect(made.code).toBe(1)
  expect(made.stderr).toContain('It is full. [storage_full] 1 of 2 pieces is spoken and kept in')
  expect(made.stderr).toContain('The same command continues there.')
  expect(await speak(path('far.md'), '-o', path('far.mp3'), '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"reused_pieces": 1'),
  })
})

test('a short text becomes an M4B as well, and a document goes to standard output without marks', async () => {
  expect((await speak('Hello', 'there.', '-o', path('short.m4b'))).code).toBe(0)
  expect(Number(probed('short.m4b')?.format.duration ?? 1)).toBeGreaterThan(0.5)
  const named = await speak('Please read notes.md', '-o', path('named.mp3'), '--json')
  expect(JSON.parse(named.stdout)).toMatchObject({ characters: 20 })
  writeFileSync(path('two.md'), '# One\n\nFirst.\n\n# Two\n\nSecond.')
  const piped = startCommand(['speak', path('two.md'), '-o', '-'], { env: env() })
  const bytes = await new Response(piped.stdout).bytes()
  expect(await piped.exited).toBe(0)
  expect([bytes[0], (bytes[1] ?? 0) & 0xe0]).toEqual([0xff, 0xe0])
})

test('an unreadable input is refused before anything is spoken or written', async () => {
  mkdirSync(path('folder.txt'))
  writeFileSync(path('broken.epub'), 'not a book')
  writeFileSync(path('bytes.txt'), new Uint8Array([0x48, 0xff, 0xfe, 0x80]))
  for (const [name, words] of [
    ['missing.epub', 'There is no file'],
    ['folder.txt', 'not a regular file'],
    ['broken.epub', 'broken.epub: It is not a zip archive, as every EPUB is.'],
    ['bytes.txt', 'It is not text in UTF-8.'],
  ] as const) {
    const made = await speak(path(name), '-o', path('none.mp3'))
    expect([name, made.code, made.stderr]).toEqual([name, 1, expect.stringContaining(words)])
  }
  expect(existsSync(path('none.mp3.part'))).toBe(false)
})
