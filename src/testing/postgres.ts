/**
 * A PostgreSQL server of our own for tests, from the distribution's package: in a temporary folder, and as the
 * package's user when we are root, because PostgreSQL refuses to run as root. It does not sync, because no test needs
 * to survive a power failure. It ends with the process that started it.
 */
import { SQL } from 'bun'
import { appendFileSync, chownSync, existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'

const packages = '/usr/lib/postgresql'

/** The folder of the package's programs; null: it is not installed. */
function programs(): string | null {
  if (!existsSync(packages)) return null
  const versions = readdirSync(packages).sort((a, b) => Number(b) - Number(a))
  const folders = versions.map((version) => join(packages, version, 'bin'))
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null
}

/** The reason why tests have no PostgreSQL here; null: they have it. */
export const noPostgres: string | null =
  programs() === null ? 'PostgreSQL is not installed: apt-get install postgresql' : null

/** A place on another network, at the end of cables: how to run commands there, and its address. */
export interface Place {
  /** Put before each command. */
  command: readonly string[]
  host: string
}

interface StartOptions {
  /** Whether every commit is synced, as on a real server. */
  isDurable: boolean
  place: Place
}

const here: Place = { command: [], host: '127.0.0.1' }

class TestPostgres {
  #port = 0
  readonly #place: Place
  readonly #bin: string
  readonly #folder: string
  readonly #isDurable: boolean
  #server: Bun.Subprocess | null = null
  #databases = 0

  private constructor(bin: string, folder: string, { isDurable, place }: StartOptions) {
    this.#isDurable = isDurable
    this.#place = place
    this.#bin = bin
    this.#folder = folder
  }

  get port(): number {
    return this.#port
  }

  static async start(options: StartOptions): Promise<TestPostgres> {
    const bin = programs()
    if (bin === null) throw new Error('PostgreSQL is not installed')
    const folder = temporaryFolder()
    if (isRoot) chownSync(folder, await idOf('-u'), await idOf('-g'))
    const server = new TestPostgres(bin, folder, options)
    const form = ['-A', 'trust', '-U', 'myna', '--no-sync', '-E', 'UTF8', '--locale=C']
    const made = server.#spawn('initdb', '-D', join(folder, 'data'), ...form)
    if ((await made.exited) !== 0) throw new Error('initdb failed')
    appendFileSync(join(folder, 'data', 'pg_hba.conf'), `host all all ${options.place.host}/8 trust\n`)
    await server.#upSomewhere()
    return server
  }

  /** Another test may take a port that was free before the server listens there: then it ends, and tries another. */
  async #upSomewhere(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      this.#port = await freePort()
      try {
        return await this.up()
      } catch (error) {
        if (attempt === 5) throw error
      }
    }
  }

  urlOf(database: string): string {
    return `postgres://myna@${this.#place.host}:${this.port}/${database}`
  }

  /** A new database. @param template a database to copy, without open connections @returns its name */
  async create(template = 'template1'): Promise<string> {
    const name = `test_${++this.#databases}`
    await this.#administer((sql) => sql.unsafe(`CREATE DATABASE ${name} TEMPLATE ${template}`))
    return name
  }

  /** Starts it again after `kill`; returns when it accepts connections. */
  async up(): Promise<void> {
    const { port } = this
    const listens = this.#place === here ? here.host : '*'
    const settings = [`listen_addresses=${listens}`, `unix_socket_directories=${this.#folder}`, 'max_connections=300']
    const hasty = this.#isDurable
      ? []
      : ['fsync=off', 'full_page_writes=off', 'autovacuum=off', 'logging_collector=off']
    const options = [...settings, ...hasty].flatMap((setting) => ['-c', setting])
    this.#server = this.#spawn('postgres', '-D', join(this.#folder, 'data'), '-p', String(port), ...options)
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#administer(async (sql) => void (await sql.unsafe('SELECT 1')))
      } catch (error) {
        if (attempt === 500 || this.#server.exitCode !== null) throw error
      }
      await Bun.sleep(20)
    }
  }

  /** Like a crash of the whole server: no work is finished. */
  async kill(): Promise<void> {
    this.#server?.kill('SIGQUIT')
    await this.#server?.exited
  }

  /** SIGSTOP: it stops answering, and its connections stay open. SIGCONT: it continues. */
  async signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const pid = this.#server?.pid ?? 0
    const children = (await new Response(Bun.spawn(['pgrep', '-P', String(pid)]).stdout).text()).split('\n')
    for (const one of [String(pid), ...children]) if (one !== '') process.kill(Number(one), signal)
  }

  async #administer<T>(work: (sql: SQL) => Promise<T>): Promise<T> {
    const sql = new SQL(this.urlOf('postgres'), { max: 1 })
    try {
      return await work(sql)
    } finally {
      await sql.close({ timeout: 0 })
    }
  }

  /** However this process ends, the child ends with it. */
  #spawn(program: string, ...args: string[]): Bun.Subprocess {
    const user = isRoot ? ['--reuid', 'postgres', '--regid', 'postgres', '--init-groups'] : []
    const command = [
      ...this.#place.command,
      'setpriv',
      ...user,
      '--pdeathsig',
      'SIGQUIT',
      join(this.#bin, program),
      ...args,
    ]
    return Bun.spawn(command, { stdout: 'ignore', stderr: 'ignore', cwd: '/' })
  }
}

const isRoot = process.getuid?.() === 0

async function idOf(which: '-u' | '-g'): Promise<number> {
  return Number(await new Response(Bun.spawn(['id', which, 'postgres']).stdout).text())
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

let shared: Promise<TestPostgres> | undefined

/** The one server of this process. */
export const testPostgres = (): Promise<TestPostgres> =>
  (shared ??= TestPostgres.start({ isDurable: false, place: here }))

/** A server that syncs every commit, for measurements. */
export const durablePostgres = (): Promise<TestPostgres> => TestPostgres.start({ isDurable: true, place: here })

/** A server on another network. */
export const distantPostgres = (place: Place): Promise<TestPostgres> => TestPostgres.start({ isDurable: false, place })
