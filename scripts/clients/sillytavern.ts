/**
 * SillyTavern, unmodified, against a server, as the page Connect says: its own server runs, its page is open in a real
 * browser, and its provider "OpenAI Compatible" speaks with the settings of the recipe.
 *
 *   npm install --ignore-scripts sillytavern@1.19.0
 *   bun scripts/clients/sillytavern.ts node_modules/sillytavern http://127.0.0.1:8790 KEY
 *
 * Prints one line for each check; exits 1 at the first failure.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apps } from '../../src/web/connect/apps.ts'
import { launchBrowser } from '../../src/testing/browser.ts'

const [folder = '', server = '', key = ''] = process.argv.slice(2)
const startMs = 180_000

const check = (what: string, ok: boolean, shown = ''): void => {
  console.log(ok ? 'ok  ' : 'FAIL', what, shown)
  if (!ok) process.exit(1)
}

/** What the recipe says, by the label that it has there. */
const recipe = apps
  .find(({ id }) => id === 'sillytavern')!
  .recipe({
    base: `${server}/v1`,
    key,
    host: new URL(server).hostname,
    wyomingPort: null,
  })
const shown = (label: string): string => recipe.blocks.find((block) => block.label === label)!.text
const settings = {
  provider_endpoint: shown('Provider endpoint'),
  model: shown('Model'),
  available_voices: shown('Available voices').split(','),
  speed: 1,
  voiceMap: {},
}

const dataRoot = mkdtempSync(join(tmpdir(), 'sillytavern-'))
const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
const port = probe.port
await probe.stop(true)
const flags = ['--port', String(port), '--dataRoot', dataRoot, '--configPath', join(dataRoot, 'config.yaml')]
const child = Bun.spawn(['node', 'server.js', ...flags, '--browserLaunchEnabled', 'false'], {
  cwd: folder,
  stdout: 'ignore',
  stderr: 'inherit',
})
const url = `http://127.0.0.1:${port}`
for (const deadline = Date.now() + startMs; Date.now() < deadline;) {
  if (
    await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
  )
    break
  await Bun.sleep(500)
}
const browser = await launchBrowser()
try {
  const page = await browser.newPage()
  page.setDefaultTimeout(startMs)
  await page.goto(url)
  await page.locator('#send_textarea').waitFor({ state: 'attached' })
  /** In the page, with its own code. */
  const speak = (voice: string, secret: string) =>
    page.evaluate<[number, string]>(`(async () => {
      const { getRequestHeaders } = await import('/script.js')
      const body = JSON.stringify({ key: 'api_key_custom_openai_tts', value: ${JSON.stringify(secret)} })
      await fetch('/api/secrets/write', { method: 'POST', headers: getRequestHeaders(), body })
      await import('/scripts/extensions/tts/index.js')
      const { OpenAICompatibleTtsProvider } = await import('/scripts/extensions/tts/openai-compatible.js')
      const provider = new OpenAICompatibleTtsProvider()
      provider.settings = ${JSON.stringify(settings)}
      const answer = await provider.fetchTtsGeneration('Hello. This is my own voice service.', ${JSON.stringify(voice)})
      const url = URL.createObjectURL(await answer.blob())
      const audio = new Audio(url)
      await new Promise((done, fail) => {
        audio.onloadedmetadata = done
        audio.onerror = () => fail(new Error('not audio'))
      })
      return [audio.duration, answer.headers.get('content-type')]
    })()`)
  for (const voice of settings.available_voices) {
    const [seconds, type] = await speak(voice, key)
    check(`SillyTavern speaks as ${voice}`, seconds > 1, `${seconds.toFixed(2)} s, ${type}`)
  }
  const refused = await speak('nova', 'sk-myna-wrong').catch((error: Error) => error.message)
  check('a wrong key is refused in words', String(refused).includes('Incorrect API key'), String(refused).slice(0, 120))
} finally {
  await browser.close()
  child.kill('SIGTERM')
  await child.exited
  rmSync(dataRoot, { recursive: true, force: true })
}
