/**
 * The console's dialogs by keyboard alone: where the focus is, what Escape and Enter do, what is announced afterwards.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Page } from 'playwright-core'
import { hasBrowser, noBrowser, untrustedHost } from '../../testing/browser.ts'
import { desk, flowMs, focused, go, type Scene, startMs, startScene, unfit } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let scene: Scene

beforeAll(async () => {
  if (hasBrowser) scene = await startScene()
}, startMs)

afterAll(() => scene?.end())

/** Opens the form, fills it in and sends it, without the mouse. */
async function makeAccount(page: Page, name: string, dollars: string): Promise<void> {
  await page.getByRole('button', { name: 'New account' }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type(name)
  await page.keyboard.press('Tab')
  await page.keyboard.type(dollars)
  await page.keyboard.press('Enter')
  await page.getByRole('cell', { name, exact: true }).waitFor()
}

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a destructive question focuses its refusal; Escape and Enter change nothing and return the focus',
  async () => {
    await using visited = await scene.signedIn()
    const { page, faults } = visited
    await go(page, 'Accounts')
    await makeAccount(page, 'bob', '3')
    await page.getByRole('status').getByText('The account bob was created').waitFor()
    const disable = page.getByRole('button', { name: 'Disable bob' })
    const question = page.getByRole('alertdialog', { name: 'Disable bob?' })
    for (const key of ['Escape', 'Enter']) {
      await disable.focus()
      await page.keyboard.press('Enter')
      await question.waitFor()
      expect(await focused(page)).toBe('BUTTON Cancel')
      expect(await unfit(page)).toEqual([])
      await page.keyboard.press(key)
      await question.waitFor({ state: 'detached' })
      expect(await focused(page)).toBe('BUTTON Disable bob')
    }
    await page.keyboard.press('Enter')
    await question.getByRole('button', { name: 'Disable account' }).press('Enter')
    await page.getByRole('status').getByText('The account bob is disabled.').waitFor()
    await page.getByRole('row', { name: /bob/ }).getByText('disabled').waitFor()
    expect(await focused(page)).toBe('DIV Accounts')
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'an account is credited; after a refusal the dialog stays open with the typed values',
  async () => {
    await using visited = await scene.signedIn()
    const { page, faults } = visited
    await go(page, 'Accounts')
    await makeAccount(page, 'eve', '1')
    await page.getByRole('button', { name: 'Credit eve' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Credit eve' })
    const amount = dialog.getByLabel('Amount in dollars')
    expect(await focused(page)).toBe('INPUT Amount in dollars')
    await amount.fill('2000000000')
    await page.keyboard.press('Enter')
    await dialog.getByRole('alert').waitFor()
    expect(faults.splice(0)).toEqual([expect.stringContaining('422')])
    expect(await amount.inputValue()).toBe('2000000000')
    await amount.fill('0.25')
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('eve now has $1.25.').waitFor()
    await page.getByRole('cell', { name: '$1.25' }).waitFor()
    expect(await focused(page)).toBe('BUTTON Credit eve')
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'an account is renamed, made an administrator and unmetered at once; then enabled again, and removed',
  async () => {
    await using visited = await scene.signedIn()
    const { page, faults } = visited
    await go(page, 'Accounts')
    await makeAccount(page, 'fay', '1.5')
    await page.getByRole('button', { name: 'Edit fay', exact: true }).click()
    const form = page.getByRole('dialog', { name: 'Edit fay' })
    await form.getByLabel('Name').fill('admin')
    await form.getByLabel('Administrator').check()
    await form.getByLabel('Prepaid').uncheck()
    await form.getByText('Its balance of $1.50 lapses.').waitFor()
    await form.getByText('Limits of its own').click()
    await form.getByLabel('Speech at once').fill('2')
    expect(await unfit(page)).toEqual([])
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByRole('alert').getByText("An account 'admin' already exists.").waitFor()
    expect(faults.splice(0)).toEqual([expect.stringContaining('422')])
    // What was changed before the refusal is not asked for again.
    await form.getByLabel('Name').fill('Fay')
    await form.getByRole('button', { name: 'Save' }).click()
    const row = page.getByRole('row', { name: /^Fay/ })
    await row.getByText('administrator').waitFor()
    const listed = await scene.program.fetch('/console/api/admin/accounts', scene.program.key)
    const { data } = (await listed.json()) as { data: { name: string; limits: Record<string, number | null> }[] }
    const { limits } = data.find(({ name }) => name === 'Fay')!
    expect([limits.speech_concurrency, limits.requests_per_minute]).toEqual([2, null])
    await row.getByText('unmetered').waitFor()
    await row.getByRole('button', { name: 'Edit Fay', exact: true }).click()
    await page.getByRole('dialog').getByLabel('Prepaid').check()
    await page.getByRole('dialog').getByLabel('Balance in dollars').fill('0.75')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await row.getByText('$0.75').waitFor()
    await row.getByRole('button', { name: 'Disable Fay' }).click()
    await page.getByRole('button', { name: 'Disable account' }).click()
    await row.getByText('disabled').waitFor()
    await row.getByRole('button', { name: 'Enable Fay' }).click()
    await row.getByText('disabled').waitFor({ state: 'detached' })
    await row.getByRole('button', { name: 'Remove Fay' }).click()
    await page.getByRole('button', { name: 'Remove account' }).click()
    await page.getByRole('status').getByText('The account Fay is removed.').waitFor()
    await page.getByRole('row', { name: /^Fay \(removed/ }).waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a second press while a key is being created creates no second key',
  async () => {
    await using visited = await scene.signedIn()
    const { page } = visited
    await go(page, 'Accounts')
    const answered = Promise.withResolvers<void>()
    let asked = 0
    await page.route('**/console/api/admin/keys', async (route) => {
      if (route.request().method() !== 'POST') return route.continue()
      asked += 1
      await answered.promise
      return route.continue()
    })
    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog', { name: 'New key' })
    await dialog.getByLabel('Account', { exact: true }).fill('admin')
    await dialog.getByLabel('Name', { exact: true }).fill('twice')
    await dialog.getByRole('button', { name: 'Create key' }).click()
    await dialog.getByRole('button', { name: 'Creating…' }).press('Enter')
    await page.keyboard.press('Escape')
    answered.resolve()
    const shown = page.getByRole('dialog', { name: 'The key twice of admin' })
    await shown.getByRole('button', { name: 'Copy' }).click()
    await shown.getByRole('button', { name: 'Copied' }).waitFor()
    await shown.getByRole('button', { name: 'Done' }).click()
    expect([asked, await page.getByRole('row', { name: /twice/ }).count()]).toEqual([1, 1])
    expect(await focused(page)).toBe('BUTTON New key')
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a newly opened page is at its top and has the focus on its title; the bar can be skipped',
  async () => {
    await using visited = await scene.signedIn()
    const { page } = visited
    await go(page, 'Voices')
    // The focus follows the title one frame later.
    await page.locator('h1:focus').getByText('Voices', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Skip to content' }).press('Enter')
    expect(await focused(page)).toStartWith('MAIN')
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a key can be copied from a page over plain http, too',
  async () => {
    const url = scene.program.url.replace(/\/\/[^:/]+/, `//${untrustedHost}`)
    await using visited = await scene.signedIn({ ...desk, permissions: [] }, { url, key: scene.program.key })
    const { page, faults } = visited
    await go(page, 'Accounts')
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByRole('dialog').getByLabel('Account', { exact: true }).fill('admin')
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('far away')
    await page.getByRole('button', { name: 'Create key' }).click()
    const shown = page.getByRole('dialog', { name: 'The key far away of admin' })
    const secret = await shown.locator('code').innerText()
    await shown.getByRole('button', { name: 'Copy' }).press('Enter')
    await shown.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await focused(page)).toBe('BUTTON Copied')
    await page.keyboard.press('Escape')
    await go(page, 'Speak')
    await page.getByLabel('Text').fill('')
    await page.getByLabel('Text').press('Control+V')
    expect(await page.getByLabel('Text').inputValue()).toBe(secret)
    expect(faults).toEqual([])
  },
  flowMs,
)
