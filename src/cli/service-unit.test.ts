import { expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'

const unshare = Bun.which('unshare')
const canBeOther = unshare !== null && Bun.spawnSync([unshare, '-r', '--map-user=1000', 'true']).success
const analyze = Bun.which('systemd-analyze')

const main = join(import.meta.dir, '..', 'main.ts')

test('the unit is printed without a change', async () => {
  const args = ['service', 'install', '--print', '--port', '9000', '--data', '/a b/100%']
  const { code, stdout } = await runCommand(args, { program: [process.execPath, main] })
  expect(code).toBe(0)
  expect(stdout).toContain('serve --host "127.0.0.1" --port 9000')
  // From source, the command is the runtime with the program.
  expect(stdout).toContain('/src/main.ts" serve')
  expect(stdout).toContain('[Install]')
  if (process.getuid?.() !== 0) expect(stdout).toContain('Environment="MYNA_DATA=/a b/100%%"')
})

// Skipped where systemd's own checker is not installed.
test.skipIf(analyze === null)('systemd understands the unit', async () => {
  const file = join(temporaryFolder(), 'myna.service')
  writeFileSync(file, (await runCommand(['service', 'install', '--print'])).stdout)
  const check = Bun.spawnSync([analyze ?? '', 'verify', '--man=no', file])
  expect(check.stderr.toString()).not.toContain(file)
})

const canMount = unshare !== null && Bun.spawnSync([unshare, '-rm', 'mount', '--bind', '/tmp', '/home']).success

// Skipped where the system does not allow mounting (no user namespaces).
test.skipIf(!canMount)('a service of the machine can start a program from a home folder', async () => {
  const [folder, name] = [dirname(process.execPath), basename(process.execPath)]
  // Where it does not hide the program's source.
  const home = main.startsWith('/home/') ? '/root' : '/home'
  const script = `mount --bind ${folder} ${home} && exec ${home}/${name} ${main} service install --print`
  const { stdout } = await runCommand([], { program: [unshare ?? '', '-rm', 'sh', '-c', script] })
  expect(stdout).toContain(`ExecStart="${home}/${name}" `)
  expect(stdout).toContain('\nProtectHome=read-only\n')
})

test('starting the service reports a program that cannot be started', async () => {
  expect((await runCommand(['service', 'install', '--print'])).stdout).toContain('\nType=exec\n')
})

// Skipped where the system does not allow becoming another user (no user namespaces).
test.skipIf(!canBeOther)('a user installs it, starts it and removes it again', async () => {
  const home = temporaryFolder()
  const calls = join(home, 'calls')
  const program = [unshare ?? '', '-r', '--map-user=1000', process.execPath, main]
  const options = { program, env: { HOME: home, PATH: `${home}:/usr/bin:/bin` } }
  const unit = join(home, '.config', 'systemd', 'user', 'myna.service')
  const without = await runCommand(['service', 'install'], { ...options, env: { HOME: home, PATH: home } })
  expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('does not use systemd')])
  expect(existsSync(unit)).toBe(false)
  writeFileSync(join(home, 'systemctl'), `#!/bin/sh\necho "$@" >> ${calls}\n`, { mode: 0o755 })
  const installed = await runCommand(['service', 'install'], options)
  expect([installed.code, installed.stdout]).toEqual([0, expect.stringContaining(unit)])
  expect(installed.stdout).toContain(`The administrator's key is in ${home}/.local/share/myna/first-key`)
  expect(readFileSync(unit, 'utf8')).toContain(`Environment="MYNA_DATA=${home}/.local/share/myna"`)
  expect(await runCommand(['service', 'uninstall'], options)).toMatchObject({ code: 0 })
  expect(existsSync(unit)).toBe(false)
  expect(readFileSync(calls, 'utf8').trim().split('\n')).toEqual([
    '--user daemon-reload',
    '--user enable --now myna.service',
    '--user disable --now myna.service',
    '--user daemon-reload',
  ])
  expect(await runCommand(['service', 'uninstall'], options)).toMatchObject({ code: 1 })
  writeFileSync(join(home, 'systemctl'), '#!/bin/sh\necho "no bus" >&2\nexit 1\n', { mode: 0o755 })
  const refused = await runCommand(['service', 'install'], options)
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('no bus') })
})
