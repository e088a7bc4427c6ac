/** The page of the API in a real browser: Swagger UI shows every route and links to no other host. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'

if (!hasBrowser) console.log(noBrowser)
const startMs = 60_000

let instance: Instance
let browser: Browser
beforeAll(async () => {
  if (!hasBrowser) return
  instance = await startInstance()
  browser = await launchBrowser()
}, startMs)
afterAll(async () => {
  if (!hasBrowser) return
  await browser.close()
  await instance[Symbol.asyncDispose]()
}, startMs)

// Skipped where no Chromium is installed; the output says so.
test.skipIf(!hasBrowser)(
  'the page shows every route, names the licence and links to no other host',
  async () => {
    const page = await browser.newPage()
    const faults: string[] = []
    page.on('pageerror', (error) => faults.push(String(error)))
    await page.goto(`${instance.url}/docs`)
    await page.locator('.opblock').first().waitFor()
    const document = (await (await instance.fetch('/openapi.json')).json()) as { paths: Record<string, object> }
    const routes = Object.values(document.paths).flatMap((methods) => Object.keys(methods))
    expect(await page.locator('.opblock').count()).toBe(routes.length)
    expect(await page.locator('.info').innerText()).toContain('Apache-2.0')
    const links = await page.evaluate<string[]>('[...document.links].map(({ href }) => href)')
    expect(links.length).toBeGreaterThan(routes.length)
    expect(links.filter((link) => new URL(link).origin !== new URL(instance.url).origin)).toEqual([])
    expect(faults).toEqual([])
  },
  startMs,
)

// Skipped where no Chromium is installed; the output says so.
test.skipIf(!hasBrowser)(
  'the samples work as they are copied, with a key in the place of $KEY',
  async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    await page.goto(`${instance.url}/docs`)
    const copied = async (name: string) => {
      await page.getByRole('button', { name: `Copy ${name}` }).click()
      await page.getByRole('figure').filter({ hasText: name }).getByText('Copied').waitFor()
      return page.evaluate<string>('navigator.clipboard.readText()')
    }
    const key = await instance.key()
    const hears = async (command: readonly string[]) => {
      const cwd = temporaryFolder()
      const run = Bun.spawn([...command], { cwd, env: { ...process.env, KEY: key }, stdout: 'ignore', stderr: 'pipe' })
      await run.exited
      return existsSync(join(cwd, 'hello.mp3')) && Bun.file(join(cwd, 'hello.mp3')).size > 1000
    }
    expect(await hears(['bash', '-c', await copied('Shell')])).toBe(true)
    const script = join(temporaryFolder(), 'hello.mjs')
    const sample = (await copied('JavaScript')).replace('$KEY', key)
    await Bun.write(script, sample.replace("from 'openai'", `from '${import.meta.resolve('openai')}'`))
    expect(await hears([process.execPath, script])).toBe(true)
    expect(await copied('Python')).toContain(`base_url="${instance.url}/v1"`)
    await page.getByRole('button', { name: 'Copy the base URL' }).click()
    await page.getByText('Copied').nth(3).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(`${instance.url}/v1`)
    await context.close()
  },
  startMs,
)
