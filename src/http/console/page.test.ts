import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../../testing/instance.ts'

let instance: Instance
beforeAll(async () => {
  instance = await startInstance()
})
afterAll(() => instance[Symbol.asyncDispose]())

const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

test('a browser that asks for the root is redirected to the console; a client gets the name', async () => {
  const sent = await instance.fetch('/', { headers: browser, redirect: 'manual' })
  expect([sent.status, sent.headers.get('location'), sent.headers.get('vary')]).toEqual([302, '/console', 'Accept'])
  for (const accept of ['application/json', '*/*']) {
    const told = await instance.fetch('/', { headers: { accept } })
    expect(await told.json()).toMatchObject({ name: 'myna', api_version: 'v1' })
  }
})

const javascript = 'text/javascript; charset=utf-8'
const css = 'text/css; charset=utf-8'

test('the page names its scripts and its style by their content, and no other host', async () => {
  const answer = await instance.fetch('/console')
  const html = await answer.text()
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toContain('unsafe')
  expect(policy).not.toContain('http')
  expect(html).not.toMatch(/<script>|<style|https?:\/\/(?!www\.w3\.org)/)
  const files = [...html.matchAll(/(?:src|href|recorder|plot)="(\/console\/[^"]+\?v=[^"]+)"/g)].map(
    ([, path]) => path ?? '',
  )
  expect(files).toHaveLength(4)
  // The parts that are painted first. If the console grows further, it must fetch more of itself later.
  const script = await instance.fetch(files.find((path) => path.includes('app.js')) ?? '')
  expect((await script.text()).length).toBeLessThan(200_000)
  for (const path of files) {
    const file = await instance.fetch(path)
    expect(file.headers.get('content-type')).toBe(path.includes('.css') ? css : javascript)
    expect(file.headers.get('cache-control')).toContain('immutable')
    expect(file.headers.get('etag')).toBe(`"${new URL(path, instance.url).searchParams.get('v')}"`)
    expect((await file.text()).length).toBeGreaterThan(100)
  }
  expect(await instance.fetch('/console/none.js').then(({ status }) => status)).toBe(404)
})

test('the console can be installed as an app: a manifest with icons of the sizes that it names', async () => {
  const html = await (await instance.fetch('/console')).text()
  const [, address = ''] = /rel="manifest" href="([^"]+)"/.exec(html) ?? []
  const answer = await instance.fetch(address)
  expect(answer.headers.get('content-type')).toBe('application/manifest+json')
  const manifest = (await answer.json()) as { start_url: string; display: string; icons: Record<string, string>[] }
  expect([manifest.start_url, manifest.display]).toEqual(['/console', 'standalone'])
  expect(manifest.icons.map(({ sizes }) => sizes)).toEqual(['192x192', '512x512', 'any'])
  for (const { src = '', type = '', sizes = '' } of manifest.icons) {
    const file = await instance.fetch(src)
    expect([file.status, file.headers.get('content-type')]).toEqual([200, type])
    const { width, height, format } = await sharp(await file.bytes()).metadata()
    if (type === 'image/png') expect([`${width}x${height}`, format]).toEqual([sizes, 'png'])
    else expect(format).toBe('svg')
  }
  expect(await (await instance.fetch('/console')).text()).not.toContain('serviceWorker')
})
