/**
 * Connecting programs, in a real browser: the samples contain the new key and work as shown, the light turns green at
 * the first request, and a friend's invitation admits the friend and gives no further access.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { hasBrowser, noBrowser } from '../../testing/browser.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { desk, flowMs, go, phone, type Scene, startMs, startScene, unfit } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let scene: Scene
beforeAll(async () => {
  if (hasBrowser) scene = await startScene()
}, startMs)
afterAll(() => scene?.end())

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a key is created for a program, fills in every sample, and the light is green once the sample was run',
  async () => {
    await using visited = await scene.signedIn(desk)
    const { page, faults } = visited
    await go(page, 'Connect')
    const programs = page.getByRole('region', { name: 'Programs' })
    await programs.getByText('YOUR_KEY').first().waitFor()
    await page.getByRole('button', { name: 'Create key' }).click()
    const form = page.getByRole('dialog', { name: 'New key' })
    expect(await form.getByLabel('Account', { exact: true }).inputValue()).toBe('curl')
    expect(await form.getByLabel('Speak and transcribe').isChecked()).toBe(true)
    expect(await form.getByLabel('Clone, change and delete voices').isChecked()).toBe(false)
    expect(await unfit(page)).toEqual([])
    await form.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('Waiting for the first request').waitFor()
    expect(await unfit(page)).toEqual([])
    const command = await programs.locator('pre').first().innerText()
    expect(command).toMatch(/Bearer sk-myna-\w{43}"/)
    for (const program of ['Python', 'JavaScript', 'Open WebUI', 'SillyTavern', 'LiveKit']) {
      await programs.getByRole('button', { name: program }).click()
      await programs
        .getByText(/sk-myna-\w{43}/)
        .first()
        .waitFor()
    }
    await programs.getByRole('button', { name: 'Open WebUI' }).click()
    await programs.getByText(/^http:\/\/host\.docker\.internal:\d+\/v1$/).waitFor()
    await programs.getByLabel('It runs in Docker').uncheck()
    await programs.getByText(/^http:\/\/127\.0\.0\.1:\d+\/v1$/).waitFor()
    await programs.getByRole('button', { name: 'Home Assistant' }).click()
    await programs.getByText('myna serve --wyoming').waitFor()
    const cwd = temporaryFolder()
    const run = Bun.spawn(['bash', '-c', command], { cwd, stdout: 'ignore', stderr: 'pipe' })
    expect([await run.exited, await new Response(run.stderr).text()]).toEqual([0, expect.any(String)])
    const [first, second = 0] = await Bun.file(join(cwd, 'hello.mp3')).slice(0, 2).bytes()
    // The mark at the beginning of every MP3 frame.
    expect([first, second & 0xe0]).toEqual([0xff, 0xe0])
    await page.getByRole('status').getByText('Connected: the first request has come.').waitFor()
    await go(page, 'Voices')
    await go(page, 'Connect')
    await page.getByText('Connected: the first request has come.').waitFor()
    expect(faults).toEqual([])
    const keys = await scene.program.fetch('/console/api/admin/keys', scene.program.key)
    const { data } = (await keys.json()) as { data: { account: string; scopes: string[] | null }[] }
    expect(data.find(({ account }) => account === 'curl')?.scopes).toEqual(['tts'])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'the sample for JavaScript runs as shown, with the official library',
  async () => {
    await using visited = await scene.signedIn(desk)
    const { page } = visited
    await go(page, 'Connect')
    await page.getByLabel('Your key').fill(scene.program.key)
    const programs = page.getByRole('region', { name: 'Programs' })
    await programs.getByRole('button', { name: 'JavaScript' }).click()
    const code = await programs.locator('pre').innerText()
    const library = join(import.meta.dir, '../../../node_modules/openai/index.mjs')
    const cwd = temporaryFolder()
    await Bun.write(join(cwd, 'hello.mjs'), code.replace("from 'openai'", `from '${library}'`))
    const run = Bun.spawn([process.execPath, 'hello.mjs'], { cwd, stdout: 'pipe', stderr: 'pipe' })
    const [text, trouble] = [await new Response(run.stdout).text(), await new Response(run.stderr).text()]
    expect([await run.exited, trouble]).toEqual([0, ''])
    expect(text.toLowerCase()).toContain('voice')
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a friend is invited, signs in with the key from the message, and finds no administration',
  async () => {
    await using visited = await scene.signedIn(phone)
    const { page, faults } = visited
    await go(page, 'Connect')
    await page.getByRole('button', { name: 'Invite a friend' }).click()
    const form = page.getByRole('dialog', { name: 'Invite a friend' })
    await form.getByLabel('Name').fill('Grace')
    expect(await form.getByLabel('Expires').inputValue()).toBe('30d')
    await form.getByRole('button', { name: 'Create invitation' }).click()
    const shown = page.getByRole('dialog', { name: 'Send this to Grace' })
    const message = await shown.getByLabel('Message').innerText()
    expect(await unfit(page)).toEqual([])
    const over = await page.evaluate<number>(
      "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('dialog'))",
    )
    expect(over).toBeLessThanOrEqual(0)
    expect(message).toContain(`Open ${scene.program.url}/console`)
    expect(message).toContain('It works until')
    await shown.getByRole('button', { name: 'Copy' }).click()
    await shown.getByRole('button', { name: 'Copied' }).waitFor()
    expect(faults).toEqual([])
    const key = /sk-myna-\w{43}/.exec(message)?.[0] ?? ''
    await using friend = await scene.signedIn(phone, { url: scene.program.url, key })
    const links = await friend.page.getByRole('navigation').getByRole('link').allInnerTexts()
    expect(links.map((link) => link.trim())).not.toContain('Accounts')
    await go(friend.page, 'Connect')
    await friend.page.getByText('Ask the administrator').waitFor()
    expect(await friend.page.getByRole('button', { name: 'Create key' }).count()).toBe(0)
    expect(friend.faults).toEqual([])
  },
  flowMs,
)
