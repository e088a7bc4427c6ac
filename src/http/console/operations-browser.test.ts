/**
 * The administrators' pages: operations and usage of all accounts, models by family, and the server's location; and
 * what other users see of their own.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { desk, flowMs, go, phone, startMs, unfit, type Visit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let instance: Instance
let browser: Browser
let ada: string

beforeAll(async () => {
  if (!hasBrowser) return
  instance = await startInstance()
  ada = await instance.key({ account: 'ada', prepaidMicros: 5_000_000 })
  const bob = await instance.key({ account: 'bob' })
  for (const key of [ada, bob, instance.adminKey]) await (await instance.speak(key)).bytes()
  await instance.cloned(bob)
  browser = await launchBrowser()
}, startMs)

afterAll(async () => {
  await browser?.close()
  await instance?.[Symbol.asyncDispose]()
})

async function enter(key: string, options = desk): Promise<Visit> {
  const visited = await visitIn(browser, options, instance.url)
  await visited.page.getByLabel('API key').fill(key)
  await visited.page.getByRole('button', { name: 'Sign in' }).click()
  await visited.page.getByRole('navigation').waitFor()
  return visited
}

const rows = (page: Page) => page.getByRole('region', { name: 'Operations' }).locator('tbody tr')

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'an administrator finds an operation among those of all accounts, and opens its details',
  async () => {
    await using visited = await enter(instance.adminKey)
    const { page, faults } = visited
    await go(page, 'Operations')
    await rows(page).nth(3).waitFor()
    expect(await rows(page).count()).toBe(4)
    await page.getByLabel('Account', { exact: true }).selectOption('bob')
    await page.getByLabel('Kind').selectOption('clone')
    await until('one is left', async () => (await rows(page).count()) === 1)
    expect(await rows(page).innerText()).toContain('bob')
    await page.getByRole('button', { name: /^Details of op_/ }).click()
    const detail = page.getByRole('dialog', { name: 'Clone' })
    await detail.getByText('completed').waitFor()
    await detail.getByText(/^op_\w{26}$/).waitFor()
    expect(await detail.locator('dl').innerText()).toMatch(/Account\s+bob\s+Key\s+test\s+Model/)
    expect(await unfit(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByLabel('Outcome').selectOption('failed')
    await page.getByText('No operation fits these filters').waitFor()
    expect(await unfit(page)).toEqual([])
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await rows(page).nth(3).waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  "an administrator cancels another account's operation",
  async () => {
    await using visited = await enter(instance.adminKey, phone)
    const { page, faults } = visited
    const held = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: (frame) => (frame === 2 ? held.promise : undefined) })
    const answer = await instance.speak(ada, { input: 'on and on' })
    await go(page, 'Operations')
    await page.getByLabel('Outcome').selectOption('pending')
    await until('one is left', async () => (await rows(page).count()) === 1)
    await page.getByRole('button', { name: /^Details of op_/ }).click()
    const detail = page.getByRole('dialog', { name: 'Speech' })
    await detail.getByText('running').waitFor()
    await detail.getByRole('button', { name: 'Cancel this operation' }).click()
    await answer.bytes().catch(() => {})
    held.resolve()
    await page.getByText('No operation fits these filters').waitFor()
    await page.getByLabel('Outcome').selectOption('cancelled')
    await until('one is left', async () => (await rows(page).count()) === 1)
    expect(await rows(page).innerText()).toContain('ada')
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  "an administrator's usage is grouped by account, other users' usage by key",
  async () => {
    await using visited = await enter(instance.adminKey)
    const { page, faults } = visited
    await go(page, 'Usage')
    const table = page.getByRole('region', { name: 'Usage by account' })
    await table.getByText('bob').waitFor()
    await table.getByText('ada').waitFor()
    await page.getByLabel('Account', { exact: true }).selectOption('ada')
    const keys = page.getByRole('region', { name: 'Usage by key' })
    await keys.getByText('test').waitFor()
    expect(await keys.locator('tbody tr').count()).toBe(1)
    await page.getByText('Balance').waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'an ordinary account sees its own operations, and prices only if it pays',
  async () => {
    const free = await instance.key({ account: 'cyd' })
    await (await instance.speak(free)).bytes()
    for (const [key, paid] of [
      [free, 0],
      [ada, 1],
    ] as const) {
      await using visited = await enter(key)
      const { page, faults } = visited
      await go(page, 'Operations')
      await rows(page).first().waitFor()
      expect(await page.getByRole('columnheader', { name: 'Charge' }).count()).toBe(paid)
      expect(await page.getByRole('columnheader', { name: 'Account' }).count()).toBe(0)
      await go(page, 'Usage')
      await page.getByRole('region', { name: 'Usage by key' }).waitFor()
      expect(await page.getByText('Charged').count()).toBe(2 * paid)
      expect(faults).toEqual([])
    }
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'models are grouped by family, with one recommended and the rest behind a line',
  async () => {
    await using visited = await enter(instance.adminKey)
    const { page, faults } = visited
    await go(page, 'Models')
    for (const [task, family, recommended, other] of [
      ['Speech', 'Pocket TTS', 'Pocket TTS', 'Pocket TTS, German'],
      ['Transcription', 'Whisper', 'Whisper small, q8', 'Whisper tiny, q8'],
    ] as const) {
      await page.getByRole('button', { name: task }).click()
      const section = page.getByRole('region', { name: family, exact: true })
      const shown = section.getByRole('article', { name: recommended, exact: true })
      await shown.getByText('recommended', { exact: true }).waitFor()
      expect(await section.getByText('recommended', { exact: true }).count()).toBe(1)
      expect(await section.getByRole('article', { name: other }).isVisible()).toBe(false)
      await section.getByText(/more models of/).click()
      await section.getByRole('article', { name: other }).getByText('not installed').waitFor()
      expect(await page.locator('button.primary').count()).toBe(1)
      expect(await unfit(page)).toEqual([])
    }
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'the server’s page shows where it is and ends with the last lines of its log',
  async () => {
    await using visited = await enter(instance.adminKey, phone)
    const { page, faults } = visited
    await go(page, 'Server')
    await page.getByText(instance.dataDir).waitFor()
    await page.getByText(/ free of /).waitFor()
    expect(await page.getByLabel('Log').innerText()).toMatch(/ INFO POST \/v1\/audio\/speech status=200 /)
    expect(await unfit(page)).toEqual([])
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'an administrator publishes an own voice, and makes it private again',
  async () => {
    const { voice_id: id } = await instance.cloned(instance.adminKey, { name: 'House' })
    const seen = async () => (await instance.fetch(`/v1/voices/${id}`, { key: ada })).status
    await using visited = await enter(instance.adminKey)
    const { page, faults } = visited
    await go(page, 'Voices')
    const card = page.getByRole('article', { name: 'House' })
    for (const [isPublic, words, status] of [
      [true, 'yours, public', 200],
      [false, 'yours', 404],
    ] as const) {
      await card.getByRole('button', { name: 'Edit House' }).click()
      await page.getByLabel('Public: every account').setChecked(isPublic)
      await page.getByRole('button', { name: 'Save' }).click()
      await card.getByText(words, { exact: true }).waitFor()
      expect(await seen()).toBe(status)
    }
    expect(faults).toEqual([])
  },
  flowMs,
)
