/**
 * Open WebUI against a server, started with the variables that the page Connect shows for its container. Its voices, a
 * spoken sentence and what it hears in it, over its own API, as its page asks for them.
 *
 *   pip install open-webui==0.12.4
 *   bun scripts/clients/open-webui.ts BIN/open-webui http://127.0.0.1:8790 KEY
 *
 * It needs no other model: nothing is downloaded. Prints one line for each check; exits 1 at the first failure.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apps } from '../../src/web/connect/apps.ts'

const [program = 'open-webui', server = '', key = ''] = process.argv.slice(2)
const startMs = 180_000
const sentence = 'The birds that imitate voices learn them from anyone who speaks nearby.'

const check = (what: string, ok: boolean, shown = ''): void => {
  console.log(ok ? 'ok  ' : 'FAIL', what, shown)
  if (!ok) process.exit(1)
}

const given = { base: `${server}/v1`, key, host: new URL(server).hostname, wyomingPort: null }
const { blocks } = apps.find(({ id }) => id === 'open-webui')!.recipe(given)
const variables = Object.fromEntries(
  [...blocks.at(-1)!.text.matchAll(/^-e (\w+)=(\S+)/gm)].map(([, name, value]) => [name, value]),
)

const folder = mkdtempSync(join(tmpdir(), 'open-webui-'))
const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
const url = `http://127.0.0.1:${probe.port}`
await probe.stop(true)
const child = Bun.spawn([program, 'serve', '--host', '127.0.0.1', '--port', new URL(url).port], {
  cwd: folder,
  env: {
    ...process.env,
    ...variables,
    DATA_DIR: folder,
    WEBUI_SECRET_KEY: 'only here',
    OFFLINE_MODE: 'true',
    HF_HUB_OFFLINE: '1',
    // The one part that would download a model at the start.
    RAG_EMBEDDING_ENGINE: 'openai',
  },
  stdout: 'ignore',
  stderr: 'ignore',
})
try {
  for (const deadline = Date.now() + startMs; Date.now() < deadline;) {
    if (
      await fetch(`${url}/health`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      break
    await Bun.sleep(500)
  }
  const person = { name: 'Ada', email: 'ada@example.org', password: 'A long one, 1' }
  const headers = { 'content-type': 'application/json' }
  const signed = await fetch(`${url}/api/v1/auths/signup`, { method: 'POST', headers, body: JSON.stringify(person) })
  const { token } = (await signed.json()) as { token: string }
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${url}/api/v1/audio/${path}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } })
  const { voices } = (await (await call('voices')).json()) as { voices: { id: string; name: string }[] }
  check('the list of voices fills itself', voices.length > 0, voices.map(({ name }) => name).join(', '))
  const body = JSON.stringify({ input: sentence, voice: voices.at(-1)!.id })
  const spoken = await call('speech', { method: 'POST', headers, body })
  const sound = await spoken.blob()
  check('it speaks', spoken.ok && sound.size > 10_000, `${spoken.headers.get('content-type')}, ${sound.size} bytes`)
  const form = new FormData()
  form.set('file', new File([sound], 'spoken.mp3', { type: 'audio/mpeg' }))
  const heard = await call('transcriptions', { method: 'POST', body: form })
  const { text = '' } = (await heard.json()) as { text?: string }
  check('it hears what it spoke', text.includes('imitate voices'), text)
} finally {
  child.kill('SIGTERM')
  await child.exited
  rmSync(folder, { recursive: true, force: true })
}
