/** The page of the API in a real browser: Swagger UI shows every route and links to no other host. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
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
