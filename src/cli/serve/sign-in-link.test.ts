/** What a person at a terminal sees on the first start: a link that signs in. The real program, on a real terminal. */
import { expect, onTestFinished, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { until } from '../../testing/until.ts'

setDefaultTimeout(60_000)

const entry = join(import.meta.dir, '..', '..', 'main.ts')

test('the first start on a terminal prints a link that signs in, and the second start does not', async () => {
  const folder = temporaryFolder()
  const start = async () => {
    let shown = ''
    const data = (_terminal: unknown, bytes: Uint8Array) => void (shown += new TextDecoder().decode(bytes))
    const command = [process.execPath, entry, 'serve', '--port', '0', '--data', folder]
    const child = Bun.spawn(command, { terminal: { cols: 120, rows: 40, data } })
    onTestFinished(() => child.kill('SIGKILL'))
    await until('the banner is shown', () => /Another key:|hello\.mp3/.test(shown))
    const plain = Bun.stripANSI(shown)
    const link = /http:\/\/127\.0\.0\.1:\d+\/console#sign-in=[\w-]{43}/.exec(plain)?.[0] ?? null
    return { child, link, plain }
  }
  const first = await start()
  expect(first.plain).toContain('Open the console, signed in (works once, for ten minutes):')
  const { origin, hash } = new URL(first.link ?? '')
  const body = JSON.stringify({ link: hash.replace('#sign-in=', '') })
  const answer = await fetch(`${origin}/console/api/session`, { method: 'POST', headers: { origin }, body })
  expect(await answer.json()).toMatchObject({ account: { name: 'admin', is_admin: true }, key: { scopes: null } })
  first.child.kill('SIGTERM')
  await first.child.exited
  const second = await start()
  expect(second.plain).not.toContain('sign-in')
})
