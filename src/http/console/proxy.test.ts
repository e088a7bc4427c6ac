/**
 * The console behind real proxies with the configurations that people write first. The lines come from docs/deploy.md.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const nginx = Bun.which('nginx') ?? Bun.which('/usr/sbin/nginx')
const caddy = Bun.which('caddy')
const openssl = Bun.which('openssl')

/** A port that was free a moment ago. */
function freePort(): number {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  listener.stop(true)
  return listener.port
}

interface Proxy {
  url: string
  [Symbol.asyncDispose](): Promise<void>
}

async function running(command: string[], env: Record<string, string>, port: number): Promise<Proxy> {
  const child = Bun.spawn(command, { env: { ...process.env, ...env }, stdout: 'ignore', stderr: 'ignore' })
  const url = `https://localhost:${port}`
  await until('the proxy answers', async () => {
    const answer = await fetch(`${url}/health`, { tls: { rejectUnauthorized: false } }).catch(() => null)
    return answer?.status === 200 || child.exitCode !== null
  })
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill()
      await child.exited
    },
  }
}

/** @param lines of its `location /` besides `proxy_pass` */
async function startNginx({ url }: Instance, lines: string): Promise<Proxy> {
  const dir = temporaryFolder()
  const port = freePort()
  mkdirSync(join(dir, 'logs'))
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-days', '2', '-nodes']
  Bun.spawnSync([openssl ?? 'openssl', 'req', '-x509', '-newkey', 'rsa:2048', ...subject, '-keyout', key, '-out', cert])
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${dir}/${one};`)
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; pid ${dir}/pid; error_log ${dir}/error.log; events {}
     http { access_log off; ${paths.join(' ')}
       server { listen 127.0.0.1:${port} ssl; ssl_certificate ${cert}; ssl_certificate_key ${key};
         location / { proxy_pass ${url}; ${lines} } } }`,
  )
  return running([nginx ?? 'nginx', '-p', dir, '-c', join(dir, 'nginx.conf')], {}, port)
}

async function startCaddy({ url }: Instance): Promise<Proxy> {
  const dir = temporaryFolder()
  const port = freePort()
  const global = '{\n  admin off\n  auto_https disable_redirects\n  skip_install_trust\n}\n'
  writeFileSync(
    join(dir, 'Caddyfile'),
    `${global}https://localhost:${port} {\n  tls internal\n  reverse_proxy ${url}\n}\n`,
  )
  const home = { HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir }
  return running([caddy ?? 'caddy', 'run', '--config', join(dir, 'Caddyfile')], home, port)
}

/** What a browser sends when a page at `origin` signs in; `site` is the browser's statement about that origin. */
const signIn = ({ url }: Proxy, key: string, origin: string, site: string) =>
  fetch(`${url}/console/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': site, origin },
    body: JSON.stringify({ api_key: key }),
    tls: { rejectUnauthorized: false },
  })

async function check(instance: Instance, proxy: Proxy): Promise<void> {
  const key = await instance.key()
  const own = await signIn(proxy, key, proxy.url, 'same-origin')
  expect(own.status).toBe(200)
  expect(own.headers.get('set-cookie')).toContain('; Secure')
  expect((await signIn(proxy, key, 'https://evil.example', 'cross-site')).status).toBe(403)
  const cookie = own.headers.get('set-cookie')?.split(';')[0] ?? ''
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const voices = await fetch(`${proxy.url}/v1/audio/voices`, { headers, tls: { rejectUnauthorized: false } })
  const { data } = (await voices.json()) as { data: { preview_url: string }[] }
  expect(data[0]?.preview_url).toStartWith('https://voice.example/v1/voices/')
}

/** A realtime session through the proxy. @returns its first event */
function firstEvent({ url }: Proxy, key: string): Promise<unknown> {
  const address = `${url.replace(/^http/, 'ws')}/v1/realtime?intent=transcription`
  const headers = { authorization: `Bearer ${key}` }
  const socket = new WebSocket(address, { headers, tls: { rejectUnauthorized: false } })
  return new Promise<unknown>((resolve, reject) => {
    socket.onmessage = ({ data }) => resolve((JSON.parse(String(data)) as { type: unknown }).type)
    socket.onclose = ({ code, reason }) => reject(new Error(`closed: ${code} ${reason}`))
  }).finally(() => socket.close())
}

const settings = { publicUrl: 'https://voice.example' }

// Skipped where nginx is not installed: apt-get install nginx-light
test.skipIf(nginx === null || openssl === null)('nginx with a plain proxy_pass: sign-in works', async () => {
  await using instance = await startInstance(settings)
  await using proxy = await startNginx(instance, '')
  await check(instance, proxy)
})

// Skipped where nginx is not installed: apt-get install nginx-light
test.skipIf(nginx === null || openssl === null)(
  'nginx with the lines of docs/deploy.md: sound streams, sockets open',
  async () => {
    const guide = await Bun.file(new URL('../../../docs/deploy.md', import.meta.url)).text()
    const [, lines = ''] = /proxy_pass http:\/\/127\.0\.0\.1:8790;\n([\s\S]*?)\n\s*\}/.exec(guide) ?? []
    expect(lines).toContain('proxy_buffering off;')
    await using instance = await startInstance(settings)
    await using proxy = await startNginx(instance, lines)
    await check(instance, proxy)
    const gate = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ frames: 40, before: (frame) => (frame === 20 ? gate.promise : undefined) })
    const spoken = await fetch(`${proxy.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { authorization: `Bearer ${await instance.key()}` },
      body: JSON.stringify({ input: 'Hello.', response_format: 'pcm' }),
      tls: { rejectUnauthorized: false },
    })
    // The first half has arrived while the engine is kept from making the rest.
    expect((await spoken.body!.getReader().read()).value?.length).toBeGreaterThan(0)
    gate.resolve()
    expect(await firstEvent(proxy, await instance.key())).toBe('session.created')
  },
)

// Skipped where Caddy is not installed: apt-get install caddy
test.skipIf(caddy === null)('Caddy with reverse_proxy alone: sign-in works, sockets open', async () => {
  await using instance = await startInstance(settings)
  await using proxy = await startCaddy(instance)
  await check(instance, proxy)
  expect(await firstEvent(proxy, await instance.key())).toBe('session.created')
})
