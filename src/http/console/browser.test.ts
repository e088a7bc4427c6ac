/**
 * The console in a real browser against the compiled executable: each flow as a person goes through it, with a fake
 * microphone that plays speech. No page may contact another origin, print an error to the browser's console, or be
 * unusable with a screen reader or on a phone.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { freshExecutable } from '../../../build/compile.ts'
import { cards } from '../../catalog/cards.ts'
import { hasBrowser, noBrowser } from '../../testing/browser.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { randomBytes, TestHub } from '../../testing/hub.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import {
  chooseVoice,
  desk,
  downloadOf,
  fact,
  flowMs,
  go,
  phone,
  type Scene,
  startMs,
  startScene,
  unfit,
} from './browser.fixture.ts'
import { recording, said, startListening } from '../transcription/transcription.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let hub: TestHub
let scene: Scene
let program: Program
const signedIn: Scene['signedIn'] = (...where) => scene.signedIn(...where)

beforeAll(async () => {
  if (!hasBrowser) return
  hub = await TestHub.start()
  const dutch = cards.find(({ id }) => id === 'pocket-tts-dutch')
  for (const [at, { repo, revision, path }] of (dutch?.files ?? []).entries()) {
    hub.add({ repo, revision, path, content: randomBytes(at, 50_000), isLarge: true })
  }
  scene = await startScene({ env: { HF_ENDPOINT: hub.url } })
  program = scene.program
}, startMs)

afterAll(async () => {
  await scene?.end()
  await hub?.stop()
})

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'signing in and out; the key is nowhere in the page',
  async () => {
    await using visited = await scene.visit()
    const { page, faults } = visited
    expect(new URL(page.url()).pathname).toBe('/console')
    await page.getByLabel('API key').fill('sk-myna-wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    expect(faults.splice(0)).toEqual([expect.stringContaining('401')])
    await page.getByLabel('API key').fill(program.key)
    await page.keyboard.press('Enter')
    await page.getByRole('navigation').waitFor()
    const kept = await page.evaluate<string>(
      'document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.documentElement.outerHTML',
    )
    expect(kept).not.toContain(program.key.slice(12))
    await page.reload()
    await page.getByRole('navigation').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'speech plays before it is complete, and its figures are shown',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    const long = 'This sentence is said again and again, so that the first of it is heard before the last is made. '
    await page.getByLabel('Text').fill(long.repeat(12))
    await chooseVoice(page, 'Lark')
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await page.getByText('Figures').click()
    await fact(page, 'First audio')
      .getByText(/\d+ ms/)
      .waitFor()
    expect(await fact(page, 'Generated in').innerText()).toContain('…')
    await page.getByText('completed', { exact: true }).waitFor()
    expect(await fact(page, 'Real-time factor').innerText()).toMatch(/0\.\d+/)
    const download = page.waitForEvent('download')
    await downloadOf(page).click()
    expect((await download).suggestedFilename()).toBe('this-sentence-is-said-again-and.wav')
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'cancelled speech is reported, and its file is marked incomplete',
  async () => {
    await using visited = await signedIn()
    const { page } = visited
    await page.getByLabel('Text').fill('One more sentence that nobody will hear to its end. '.repeat(70))
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await page.getByText('Figures').click()
    await fact(page, 'First audio')
      .getByText(/\d+ ms/)
      .waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('cancelled', { exact: true }).waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    const download = page.waitForEvent('download')
    await downloadOf(page).click()
    expect((await download).suggestedFilename()).toEndWith('-incomplete.wav')
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a server that disappears in the middle leaves the received speech, and the page says so',
  async () => {
    const doomed = await startProgram(join(temporaryFolder(), 'data'), {}, [], [await freshExecutable()])
    await using visited = await signedIn(desk, doomed)
    const { page } = visited
    await page.getByLabel('Text').fill('One more sentence that nobody will hear to its end. '.repeat(70))
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await page.getByText('Figures').click()
    await fact(page, 'First audio')
      .getByText(/\d+ ms/)
      .waitFor()
    await doomed.end()
    await page.getByRole('alert').getByText('The stream failed before its end.').waitFor()
    await page.getByText('failed', { exact: true }).waitFor()
    const download = page.waitForEvent('download')
    await downloadOf(page).click()
    expect((await download).suggestedFilename()).toEndWith('-incomplete.wav')
    await go(page, 'Server')
    await page.getByRole('alert').getByText('cannot be reached').waitFor()
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'mp3 plays while it arrives, opus when it is complete',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    for (const format of ['MP3', 'OPUS']) {
      await page.getByLabel('Format').selectOption({ label: format })
      await page.getByRole('button', { name: 'Speak', exact: true }).click()
      if (format === 'MP3') await page.getByText('Figures').click()
      await fact(page, 'First audio')
        .getByText(/\d+ ms/)
        .waitFor()
      await page.getByText('completed', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Speak', exact: true }).waitFor()
      await downloadOf(page).waitFor()
    }
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'an administrator creates an account and a key that is shown once, and revokes it',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    await go(page, 'Accounts')
    await page.getByRole('button', { name: 'New account' }).click()
    await page.getByLabel('Name', { exact: true }).fill('ada')
    await page.getByLabel('Opening balance').fill('2.5')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('cell', { name: '$2.50' }).waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Account', { exact: true }).fill('ada')
    await page.getByLabel('Name', { exact: true }).fill('laptop')
    await page.getByLabel('Clone, change and delete voices').check()
    await page.getByRole('button', { name: 'Create key' }).click()
    const secret = await page.getByRole('dialog').locator('code').innerText()
    expect((await program.fetch('/v1/voices', secret)).status).toBe(200)
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await page.content()).not.toContain(secret)
    const row = page.getByRole('row', { name: /laptop/ })
    expect(await row.innerText()).toContain('speech, voices')
    await row.getByRole('button', { name: 'Revoke' }).click()
    const question = page.getByRole('alertdialog', { name: 'Revoke the key laptop?' })
    await question.getByRole('button', { name: 'Revoke key' }).click()
    await row.getByText('revoked').waitFor()
    await page.getByRole('status').getByText('The key laptop is revoked.').waitFor()
    expect((await program.fetch('/v1/voices', secret)).status).toBe(401)
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a file is transcribed: its words as they arrive, playable segments, downloadable subtitles',
  async () => {
    // The executable has no transcription model here. This engine only counts seconds, and the page cannot see the
    // difference.
    await using listening = await startListening()
    await using visited = await signedIn(desk, { url: listening.url, key: listening.adminKey })
    const { page, faults } = visited
    await go(page, 'Transcribe')
    const file = { name: 'talk.wav', mimeType: 'audio/wav', buffer: Buffer.from(recording) }
    await page.getByLabel('Audio or video file').setInputFiles(file)
    await page.getByRole('button', { name: 'Transcribe', exact: true }).click()
    await page.getByText(said).waitFor()
    await page.getByRole('button', { name: 'Segments' }).click()
    const second = page.getByRole('button', { name: /heard 2/ })
    await second.click()
    const at = await page.waitForFunction("document.querySelector('section audio').currentTime >= 2", null)
    expect(await at.jsonValue()).toBe(true)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'SRT' }).click()
    const saved = await download
    expect(saved.suggestedFilename()).toBe('talk.srt')
    const srt = await Bun.file(await saved.path()).text()
    expect(srt).toMatch(/^1\n00:00:00,\d{3} --> [^\n]+\nheard 0\.\n\n2\n00:00:02,/)
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'the built-in recogniser works before any model is installed',
  async () => {
    await using visited = await signedIn()
    await go(visited.page, 'Transcribe')
    await visited.page.getByRole('button', { name: 'Transcribe' }).waitFor()
    expect(await visited.page.getByText('No transcription model yet').count()).toBe(0)
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a model is installed with visible progress, and removed',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    await go(page, 'Models')
    await page.getByText(/more models of Pocket TTS/).click()
    const card = page.getByRole('article', { name: 'Pocket TTS, Dutch' })
    await card.getByRole('button', { name: 'Install' }).click()
    await page.getByRole('dialog').getByText('CC-BY-4.0').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Install' }).click()
    await card.getByText('installed', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove model' }).click()
    await card.getByText('not installed').waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a failed download gives the reason, and can be tried again',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    await go(page, 'Models')
    await page.getByText(/more models of Pocket TTS/).click()
    // The hub of this test has none of its files.
    const card = page.getByRole('article', { name: 'Pocket TTS, German' })
    await card.getByRole('button', { name: 'Install' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Install' }).click()
    expect(await card.getByRole('alert').innerText()).not.toBe('')
    await card.getByText('failed', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('dialog', { name: 'Install Pocket TTS, German' }).waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

const pages = ['Speak', 'Voices', 'Transcribe', 'Connect', 'Usage', 'Operations', 'Models', 'Accounts', 'Server']
const screens: [string, BrowserContextOptions][] = [
  ['a desk in the light', desk],
  ['a phone in the dark', phone],
]

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser).each(screens)(
  'every page fits %s and a screen reader',
  async (_, options) => {
    await using door = await scene.visit(options)
    expect(await unfit(door.page)).toEqual([])
    await using visited = await signedIn(options)
    const { page, faults } = visited
    for (const name of pages) {
      await go(page, name)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.waitForLoadState('networkidle')
      expect({ name, unfit: await unfit(page) }).toEqual({ name, unfit: [] })
      const over = await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')
      expect({ name, over: Math.max(0, over) }).toEqual({ name, over: 0 })
    }
    await go(page, 'Voices')
    await page.getByRole('button', { name: 'Clone a voice' }).click()
    expect(await unfit(page)).toEqual([])
    expect(faults).toEqual([])
  },
  flowMs,
)
