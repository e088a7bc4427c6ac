/**
 * The studio in a real browser: speech stays across pages and reloads; texts of any length become one file; voices are
 * chosen, played and changed; the keyboard alone is enough; only paying accounts see prices.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { chooseVoice, desk, downloadOf, flowMs, focused, go, startMs, unfit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let instance: Instance
let browser: Awaited<ReturnType<typeof launchBrowser>>

beforeAll(async () => {
  if (!hasBrowser) return
  instance = await startInstance({ publicPerMinute: 10_000 })
  browser = await launchBrowser()
}, startMs)

afterAll(async () => {
  await browser?.close()
  await instance?.[Symbol.asyncDispose]()
})

async function enter(key = instance.adminKey) {
  const visited = await visitIn(browser, desk, instance.url)
  await signIn(visited.page, key)
  return visited
}

async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation').waitFor()
}

const player = (page: Page) => page.getByRole('region', { name: 'Player' })
const past = (page: Page) => page.getByRole('region', { name: 'History' })
const completed = (page: Page) => page.getByText('completed', { exact: true })

async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel('Text').fill(text)
  await page.getByRole('button', { name: 'Speak', exact: true }).click()
  await completed(page).waitFor()
  await past(page)
    .getByRole('listitem')
    .filter({ hasText: text.slice(0, 20) })
    .first()
    .waitFor()
}

async function saved(page: Page): Promise<Buffer> {
  const download = page.waitForEvent('download')
  await downloadOf(page).click()
  return Buffer.from(await Bun.file(await (await download).path()).bytes())
}

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'speech stays across pages and reloads, is played again, saved as a file and removed',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    await past(page).getByText('Nothing spoken yet').waitFor()
    await say(page, 'The first of two sentences.')
    await say(page, 'The second of two sentences.')
    await go(page, 'Voices')
    await player(page).getByText('The second of two').waitFor()
    await go(page, 'Speak')
    // The page reads its history after it appears.
    await past(page).getByRole('listitem').nth(1).waitFor()
    expect(await past(page).getByRole('listitem').count()).toBe(2)
    await page.reload()
    await past(page).getByRole('listitem').first().waitFor()
    expect(await page.getByLabel('Text').inputValue()).toBe('The second of two sentences.')
    const first = past(page).getByRole('listitem').filter({ hasText: 'The first' })
    await first.getByRole('button', { name: /^Play: The first/ }).click()
    await player(page).getByText('The first of two').waitFor()
    const wav = await saved(page)
    expect([wav.toString('latin1', 0, 4), wav.readUInt32LE(40)]).toEqual(['RIFF', wav.length - 44])
    expect(await unfit(page)).toEqual([])
    await first.getByRole('button', { name: 'Delete' }).click()
    await first.waitFor({ state: 'detached' })
    expect(await player(page).count()).toBe(0)
    await past(page).getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('button', { name: 'Delete all' }).click()
    await past(page).getByText('Nothing spoken yet').waitFor()
    await page.reload()
    await past(page).getByText('Nothing spoken yet').waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'the history belongs to one account, and keeps two hundred entries at most',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    await say(page, 'Of the administrator.')
    // As if this browser had been in use for long.
    await page.evaluate(`new Promise((done) => {
      indexedDB.open('myna', 1).onsuccess = ({ target: { result } }) => {
        const transaction = result.transaction('takes', 'readwrite')
        const takes = transaction.objectStore('takes')
        takes.getAll().onsuccess = ({ target: { result: [known] } }) => {
          for (let at = 1; at < 200; at++) takes.put({ ...known, id: 'old ' + at, createdAtMs: at, text: 'Old ' + at })
        }
        transaction.oncomplete = done
      }
    })`)
    await say(page, 'One too many.')
    const kept = await page.evaluate<string[]>(`new Promise((done) => {
      indexedDB.open('myna', 1).onsuccess = ({ target: { result } }) => {
        const asked = result.transaction('takes').objectStore('takes').getAllKeys()
        asked.onsuccess = () => done(asked.result)
      }
    })`)
    expect([kept.length, kept.includes('old 1'), kept.includes('old 2')]).toEqual([200, false, true])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn(page, await instance.key({ account: 'next at this browser' }))
    await past(page).getByText('Nothing spoken yet').waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'a text of any length is spoken in parts, one after another, and joined into one file',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    const asked: string[] = []
    const ids: string[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/audio/speech'))
        asked.push((JSON.parse(request.postData() ?? '{}') as { input: string }).input)
    })
    page.on('response', (answer) => {
      if (answer.url().endsWith('/v1/audio/speech')) ids.push(answer.headers()['x-request-id'] ?? '')
    })
    const sentence = 'Every sentence of this long text ends before the next request begins. '
    const text = `${sentence.repeat(60)}\n\n${sentence.repeat(60)}`
    await page.getByLabel('Text').fill(text)
    await page.getByText('spoken in parts and joined').waitFor()
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await completed(page).waitFor()
    await page.getByText(`${asked.length} of ${asked.length} parts`).waitFor()
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.join(' ').replaceAll(/\s+/g, ' ')).toBe(text.trim().replaceAll(/\s+/g, ' '))
    for (const part of asked) expect(part).toEndWith('begins.')
    const wav = await saved(page)
    // Between the parts there is silence, a quarter of a second or more (24 kHz, 16 bit).
    const spokenBytes = await Promise.all(
      ids.map(async (id) => {
        const operation = await instance.fetch(`/v1/operations/${id}`, { key: instance.adminKey })
        return ((await operation.json()) as { completion_bytes: number }).completion_bytes
      }),
    )
    const silentBytes = wav.length - 44 - spokenBytes.reduce((sum, count) => sum + count, 0)
    expect(silentBytes).toBeGreaterThanOrEqual((asked.length - 1) * 12_000)
    expect(silentBytes).toBeLessThan((asked.length - 1) * 48_000)
    await page.getByLabel('Format').selectOption({ label: 'FLAC' })
    await page.getByText('A text of more than 4096 characters comes as WAV, MP3, AAC or PCM.').waitFor()
    expect(await page.getByRole('button', { name: 'Speak', exact: true }).isDisabled()).toBe(true)
    expect(faults).toEqual([])
  },
  flowMs,
)

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'a key in a long text keeps nothing until the typing pauses, and breaks no paragraph into lines again',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    await page.clock.install()
    const text = page.getByLabel('Text')
    const direction = (input: string) => text.fill(input).then(() => text.getAttribute('dir'))
    expect(await direction('Short.')).toBe('auto')
    expect(await direction(`"${'שלום '.repeat(3000)}`)).toBe('rtl')
    expect(await direction('Words 👋 of a paragraph that has no end, '.repeat(3000))).toBe('ltr')
    await page.getByText('120,000 characters, spoken in parts and joined').waitFor()
    const kept = () =>
      page.evaluate<string>(
        "JSON.parse(Object.entries(localStorage).find(([key]) => /draft/.test(key))?.[1] ?? '{}').input ?? ''",
      )
    await page.clock.runFor(1000)
    await text.press('Control+End')
    await text.press('x')
    expect((await kept()).at(-1)).toBe(' ')
    await page.clock.runFor(1000)
    expect((await kept()).at(-1)).toBe('x')
    await text.press('y')
    await page.reload()
    await text.waitFor()
    expect((await text.inputValue()).slice(-2)).toBe('xy')
    expect(faults).toEqual([])
  },
  flowMs,
)

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'a voice is searched, played and chosen with the arrow keys; a sentence is spoken again with another',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    await page.getByRole('button', { name: /^Voice: / }).click()
    const dialog = page.getByRole('dialog', { name: 'Choose a voice' })
    expect(await focused(page)).toBe('INPUT Search voices')
    await page.keyboard.type('deep american')
    await dialog.getByRole('button', { name: /^Martin/ }).waitFor()
    expect(await dialog.locator('.pick').count()).toBe(1)
    await dialog.getByRole('button', { name: 'Hear Martin' }).click()
    await dialog.getByRole('button', { name: 'Stop Martin' }).waitFor()
    expect(await unfit(page)).toEqual([])
    await dialog.getByLabel('Search voices').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Voice: Martin/ }).waitFor()
    await say(page, 'In the voice of another.')
    await past(page)
      .getByText(/^Martin · /)
      .waitFor()
    await page.getByLabel('Text').fill('Something else.')
    await past(page).getByRole('button', { name: 'Speak again with another voice' }).click()
    await dialog.getByRole('button', { name: /^Wren/ }).click()
    expect(await page.getByLabel('Text').inputValue()).toBe('In the voice of another.')
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await past(page)
      .getByText(/^Wren · /)
      .waitFor()
    // Enter in the search takes the first that was found.
    await page.getByRole('button', { name: /^Voice: Wren/ }).click()
    await page.keyboard.type('merle')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /^Voice: Merle/ }).waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'the keyboard alone speaks, pauses, moves, cancels and reaches everything',
  async () => {
    instance.engine.plan = () => ({ frames: 150 })
    await using visited = await enter()
    const { page, faults } = visited
    await page.keyboard.press('/')
    expect(await focused(page)).toBe('TEXTAREA Text')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('A sentence that is long enough to be paused in the middle of it. '.repeat(4))
    await page.keyboard.press('Control+Enter')
    await completed(page).waitFor()
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('Space')
    await player(page).getByRole('button', { name: 'Play', exact: true }).waitFor()
    await downloadOf(page).waitFor()
    const position = player(page).getByRole('slider', { name: 'Position' })
    const before = Number(await position.getAttribute('aria-valuenow'))
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowRight')
    expect(Number(await position.getAttribute('aria-valuenow'))).toBeGreaterThan(before)
    await page.keyboard.press('Space')
    await player(page).getByRole('button', { name: 'Pause', exact: true }).waitFor()
    // Space after a click on Speak pauses, and does not speak again. 40 s of sound are not over before it is pressed.
    instance.engine.plan = () => ({ frames: 400 })
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await past(page).getByRole('listitem').nth(1).waitFor()
    await page.keyboard.press('Space')
    await player(page).getByRole('button', { name: 'Play', exact: true }).waitFor()
    expect(await past(page).getByRole('listitem').count()).toBe(2)
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Five seconds back and forward').waitFor()
    expect(await unfit(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    instance.engine.plan = () => ({})
    expect(faults).toEqual([])
  },
  flowMs,
)

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'Escape cancels; the engine stops, and the received part stays as an incomplete file',
  async () => {
    const held = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ frames: 40, before: (frame) => (frame < 4 ? undefined : held.promise) })
    await using visited = await enter()
    const { page, faults } = visited
    await page.getByLabel('Text').fill('One more sentence that nobody will hear to its end.')
    await page.keyboard.press('Control+Enter')
    await player(page).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('cancelled', { exact: true }).waitFor()
    held.resolve()
    instance.engine.plan = () => ({})
    expect(await page.getByRole('alert').count()).toBe(0)
    // The browser's own message for a stream that the server aborted.
    expect(faults.filter((fault) => !fault.includes('ERR_CONNECTION_RESET'))).toEqual([])
  },
  flowMs,
)

// Needs a browser, which a fresh machine has not.
test.skipIf(!hasBrowser)(
  'a prepaid account sees prices, other accounts do not',
  async () => {
    for (const [prepaidMicros, shown] of [
      [5_000_000, 1],
      [undefined, 0],
    ] as const) {
      await using visited = await enter(
        await instance.key(prepaidMicros === undefined ? { scopes: ['tts'] } : { prepaidMicros }),
      )
      const { page } = visited
      await chooseVoice(page, 'Wren')
      await say(page, 'What does this cost?')
      await page.getByText('Figures').click()
      await page.getByText('Real-time factor').waitFor()
      expect(await page.getByText(/\$0\.0\d+/).count()).toBe(shown)
    }
  },
  flowMs,
)
