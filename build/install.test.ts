import { afterAll, beforeAll, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'myna-install-'))
const script = join(import.meta.dir, 'install.sh')
/** Prints its version, as the real one does; the build's name in it shows that the right one was chosen. */
const program = (build: string) => `#!/bin/sh\n[ "$1" = --version ] && echo "0.9.0 ${build}"\n`
const files: Record<string, string> = {}
const asked: string[] = []
let server: ReturnType<typeof Bun.serve>

const sha256 = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    fetch({ url }) {
      const { pathname } = new URL(url)
      asked.push(pathname)
      const content = files[pathname.split('/').at(-1) ?? '']
      return content === undefined ? new Response('no such file', { status: 404 }) : new Response(content)
    },
  })
})
afterAll(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

function release(change: Record<string, string> = {}): void {
  for (const name of Object.keys(files)) delete files[name]
  for (const name of ['myna-linux-x64', 'myna-linux-x64-baseline']) files[name] = program(name)
  const sums = Object.entries(files).map(([name, content]) => `${sha256(content)}  ${name}`)
  Object.assign(files, { SHA256SUMS: `${sums.join('\n')}\n` }, change)
}

/**
 * @param bin null: not named
 * @param path searched before the machine's own, to replace a command
 * @param home null: not set
 */
async function install(bin: string | null, version = 'latest', path = '', home: string | null = folder) {
  const child = Bun.spawn(['sh', script], {
    env: {
      PATH: `${path}:/usr/local/bin:/usr/bin:/bin`,
      ...(home !== null && { HOME: home }),
      ...(bin !== null && { MYNA_BIN_DIR: bin }),
      MYNA_RELEASES: `${server.url.origin}/releases`,
      MYNA_VERSION: version,
    },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, err }
}

test('it installs the build for this processor and says how to start it', async () => {
  release()
  const bin = join(folder, 'fresh', 'bin')
  const { code, out } = await install(bin)
  expect(code).toBe(0)
  const build = /\bavx2\b/.test(readFileSync('/proc/cpuinfo', 'utf8')) ? 'myna-linux-x64' : 'myna-linux-x64-baseline'
  expect(out).toContain(`Installed 0.9.0 ${build} as ${bin}/myna`)
  expect(out).toContain(`${bin}/myna serve`)
  expect(readdirSync(bin)).toEqual(['myna'])
  expect(asked).toContain(`/releases/latest/download/${build}`)
})

test('a tag selects another version, which replaces the older one', async () => {
  release()
  const bin = join(folder, 'upgrade')
  mkdirSync(bin)
  writeFileSync(join(bin, 'myna'), 'an older one')
  expect((await install(bin, 'v0.9.0')).code).toBe(0)
  expect(readFileSync(join(bin, 'myna'), 'utf8')).toStartWith('#!/bin/sh')
  expect(asked).toContain('/releases/download/v0.9.0/SHA256SUMS')
})

const broken: [string, Record<string, string>, string][] = [
  ['a damaged download', { 'myna-linux-x64': 'xx', 'myna-linux-x64-baseline': 'xx' }, 'the download is damaged'],
  ['a release without sums for this build', { SHA256SUMS: `${'0'.repeat(64)}  other\n` }, 'has no sum for'],
]

test.each(broken)('%s leaves the old executable unchanged', async (_, change, message) => {
  release(change)
  const bin = join(folder, sha256(message).slice(0, 8))
  mkdirSync(bin)
  writeFileSync(join(bin, 'myna'), 'an older one')
  const { code, err } = await install(bin)
  expect([code, err]).toEqual([1, expect.stringContaining(message)])
  expect(readdirSync(bin)).toEqual(['myna'])
  expect(readFileSync(join(bin, 'myna'), 'utf8')).toBe('an older one')
})

test('an executable that does not start is not installed', async () => {
  const dud = '#!/bin/sh\nexit 1\n'
  const names = ['myna-linux-x64', 'myna-linux-x64-baseline']
  const sums = names.map((name) => `${sha256(dud)}  ${name}\n`).join('')
  release({ ...Object.fromEntries(names.map((name) => [name, dud])), SHA256SUMS: sums })
  const bin = join(folder, 'dud')
  const { code, err } = await install(bin)
  expect([code, err]).toEqual([1, expect.stringContaining('does not start on this machine')])
  expect(existsSync(join(bin, 'myna'))).toBe(false)
})

/** A folder with a command that replaces the machine's own. */
const pretend = (name: string, line: string) => {
  const path = join(folder, name)
  mkdirSync(path)
  const [command = '', ...rest] = line.split(' ')
  writeFileSync(join(path, command), `#!/bin/sh\n${rest.join(' ')}\n`)
  chmodSync(join(path, command), 0o755)
  return path
}

test('a busybox, whose sha256sum knows no long options, checks the download too', async () => {
  release()
  const real = Bun.which('sha256sum')
  const busybox = pretend(
    'busybox',
    `sha256sum [ "$1" = -c ] && [ $# = 2 ] && exec ${real} -c "$2"; echo usage >&2; exit 1`,
  )
  const bin = join(folder, 'small')
  const { code, err } = await install(bin, 'latest', busybox)
  expect([code, err, readdirSync(bin)]).toEqual([0, '', ['myna']])
})

test('without a place for the executable it says how to name one', async () => {
  release()
  const closed = join(folder, 'file')
  writeFileSync(closed, '')
  for (const home of [null, closed]) {
    const { code, err } = await install(null, 'latest', '', home)
    expect([code === 0, err]).toEqual([false, expect.stringMatching(/MYNA_BIN_DIR/)])
  }
})

test('another system, another processor and musl are refused: Myna has no build for them', async () => {
  release()
  const mac = pretend('mac', 'uname echo Darwin')
  const arm = pretend('arm', 'uname [ "$1" = -s ] && echo Linux || echo aarch64')
  const musl = pretend('musl', 'ldd echo "musl libc (x86_64)" >&2; exit 1')
  const says = async (path: string) => (await install(join(folder, 'none'), 'latest', path)).err
  expect(await says(mac)).toContain('no build for Darwin')
  expect(await says(arm)).toContain('no build for aarch64')
  expect(await says(musl)).toContain('it needs glibc')
})

test('a script that is cut short runs nothing', async () => {
  const text = readFileSync(script, 'utf8')
  for (const part of [0.3, 0.6, 0.95]) {
    const half = join(folder, 'half.sh')
    writeFileSync(half, text.slice(0, Math.floor(text.length * part)))
    const bin = join(folder, `half-${part}`)
    await Bun.spawn(['sh', half], { env: { PATH: '/usr/bin:/bin', HOME: folder, MYNA_BIN_DIR: bin } }).exited
    expect(existsSync(bin)).toBe(false)
  }
})

test('systemd understands the unit', async () => {
  const analyze = Bun.which('systemd-analyze')
  // Without systemd on this machine, nothing can check it.
  if (analyze === null) return
  const unit = join(folder, 'myna.service')
  writeFileSync(
    unit,
    readFileSync(join(import.meta.dir, 'myna.service'), 'utf8').replace(
      'ExecStart=/usr/local/bin/myna',
      'ExecStart=/bin/sh',
    ),
  )
  const child = Bun.spawn([analyze, 'verify', unit], { stderr: 'pipe' })
  const complaints = await new Response(child.stderr).text()
  expect(complaints.split('\n').filter((line) => line.includes('myna.service'))).toEqual([])
})
