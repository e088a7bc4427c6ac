/** `myna service`: Myna as a service of systemd, of the user who asks for it or, as root, of the machine. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { Command } from 'commander'
import { globalsOf, portNumber } from './globals.ts'
import { firstKeyName } from './serve/first-key.ts'
import { Failure, report } from './terminal/terminal.ts'

const unitName = 'myna.service'
const systemUnits = '/etc/systemd/system'

export const serviceCommand = (): Command =>
  new Command('service')
    .addHelpText(
      'after',
      `
Without root it is a service of your own account, with the data folder you use now. As
root it is one of the machine, with its data in /var/lib/myna. Settings are environment
variables: systemctl --user edit myna; as root: systemctl edit myna.

Examples:
  myna service install
  journalctl --user -u myna
  myna service uninstall`,
    )
    .addCommand(installCommand())
    .addCommand(uninstallCommand())

interface Place {
  isSystem: boolean
  unit: string
}

/** Of the machine for root, else of the user. */
function placeOf(): Place {
  if (process.getuid?.() === 0) return { isSystem: true, unit: join(systemUnits, unitName) }
  return { isSystem: false, unit: join(homedir(), '.config', 'systemd', 'user', unitName) }
}

const installCommand = (): Command =>
  new Command('install')
    .description('install the service, start it now and at every boot')
    .option('--host <address>', 'address to listen on; 0.0.0.0 opens it to the network (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on (default: 8790)', portNumber)
    .option('--print', 'print the unit and change nothing')
    .action((options: { host?: string; port?: number; print?: true }, command: Command) => {
      const { json, config } = globalsOf(command)
      const place = placeOf()
      const address = { host: options.host ?? config.host, port: options.port ?? config.port }
      const dataDir = place.isSystem ? '/var/lib/myna' : config.dataDir
      const text = unitText(place.isSystem, { program: ownCommand(), dataDir, ...address })
      if (options.print === true) {
        process.stdout.write(text)
        return
      }
      systemctlPath()
      // Only its first start writes a key.
      const isNew = !existsSync(join(dataDir, 'myna.db'))
      mkdirSync(dirname(place.unit), { recursive: true })
      writeFileSync(place.unit, text)
      systemctl(place, 'daemon-reload')
      systemctl(place, 'enable', '--now', unitName)
      const keyLines = isNew
        ? [`The administrator's key is in ${join(dataDir, firstKeyName)}: copy it, then delete the file.`]
        : []
      report(json, { unit: place.unit, ...address }, () => [...installedLines(place), ...keyLines].join('\n'))
    })

const installedLines = ({ isSystem, unit }: Place): string[] => [
  `Myna runs as a service (${unit}).`,
  isSystem ? 'Its log: journalctl -u myna' : 'Its log: journalctl --user -u myna',
  isSystem
    ? 'A key: MYNA_DATA=/var/lib/myna myna keys create --account NAME'
    : 'A key: myna keys create --account NAME',
  ...(isSystem ? [] : ['To keep it running while you are logged out: loginctl enable-linger']),
]

const uninstallCommand = (): Command =>
  new Command('uninstall')
    .description('stop the service and remove it; data, keys and models stay')
    .action((_options, command: Command) => {
      const { json } = globalsOf(command)
      const place = placeOf()
      if (!existsSync(place.unit)) throw new Failure(`There is no service ${place.unit}.`, 'no_service')
      systemctl(place, 'disable', '--now', unitName)
      rmSync(place.unit)
      systemctl(place, 'daemon-reload')
      report(json, { unit: place.unit, removed: true }, () => `Removed ${place.unit}. Data, keys and models are kept.`)
    })

/** @throws Failure in systemd's words */
function systemctl({ isSystem }: Place, ...args: string[]): void {
  const run = Bun.spawnSync([systemctlPath(), ...(isSystem ? [] : ['--user']), ...args])
  if (run.success) return
  const words = run.stderr.toString().trim()
  throw new Failure(`systemctl ${args.join(' ')}: ${words || `exit code ${run.exitCode}`}`, 'no_systemd')
}

/** @throws Failure where there is none */
function systemctlPath(): string {
  const path = Bun.which('systemctl')
  if (path !== null) return path
  throw new Failure('systemctl was not found: this machine does not use systemd. Run: myna serve', 'no_systemd')
}

/** The executable; run from source, the runtime and the program. */
const ownCommand = (): string[] => (Bun.main.startsWith('/$bunfs/') ? [process.execPath] : [process.execPath, Bun.main])

interface UnitOptions {
  program: readonly string[]
  dataDir: string
  host: string
  port: number
}

/** Everything is quoted, because a path may hold blanks. `%` has a meaning of its own in a unit. */
const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`

/** Below what `ProtectHome=yes` hides (systemd.exec(5)): the install script puts the program there. */
const isAtHome = (path: string): boolean => /^\/(home|root|run\/user)\//.test(path)

function unitText(isSystem: boolean, { program, dataDir, host, port }: UnitOptions): string {
  const hardening = isSystem
    ? [
        'StateDirectory=myna',
        'StateDirectoryMode=0700',
        'CacheDirectory=myna',
        'ProtectSystem=full',
        `ProtectHome=${program.some(isAtHome) ? 'read-only' : 'yes'}`,
      ]
    : []
  const cache = isSystem ? [`Environment=${quoted('MYNA_NATIVE_DIR=/var/cache/myna')}`] : []
  return `[Unit]
Description=Myna voice service
${isSystem ? 'After=network-online.target\nWants=network-online.target\n' : ''}
[Service]
# Starting it fails if the program cannot be executed.
Type=exec
ExecStart=${program.map(quoted).join(' ')} serve --host ${quoted(host)} --port ${port}
${[`Environment=${quoted(`MYNA_DATA=${dataDir}`)}`, ...cache, ...hardening].join('\n')}
NoNewPrivileges=yes
UMask=0077
Restart=on-failure
RestartSec=2
# Longer than MYNA_DRAIN_MS, so that streams may finish.
TimeoutStopSec=45
KillMode=mixed

[Install]
WantedBy=${isSystem ? 'multi-user.target' : 'default.target'}
`
}
