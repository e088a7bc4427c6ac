/**
 * Cables that can be unplugged: the database server is in a network namespace of its own, and each box reaches it over
 * a pair of virtual Ethernet devices whose far end can be switched off. Packets then vanish in the kernel; connections
 * stay open, retransmit, and work again when the cable is back. Needs root, and `ip` of iproute2.
 */
const prefix = 'myna-boxes-'

export class Cables {
  readonly #name = `${prefix}${process.pid}`
  /** In the addresses: 10.N.CABLE.x. */
  readonly #net = 64 + (process.pid % 128)
  readonly #count: number

  private constructor(count: number) {
    this.#count = count
  }

  /** @param count cable 0 is for the tests themselves and always plugged in @throws Error without the permission */
  static async lay(count: number): Promise<Cables> {
    const cables = new Cables(count)
    await removeLeftovers()
    await ip('netns', 'add', cables.#name)
    await cables.#there('link', 'set', 'lo', 'up')
    for (let n = 0; n < count; n++) {
      const [near, far] = cables.#endsOf(n)
      await ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', cables.#name)
      await ip('addr', 'add', `10.${cables.#net}.${n}.1/24`, 'dev', near)
      await cables.#there('addr', 'add', `${cables.hostOf(n)}/24`, 'dev', far)
      await ip('link', 'set', near, 'up')
      await cables.#there('link', 'set', far, 'up')
    }
    return cables
  }

  /** The server's address at the end of this cable. */
  hostOf(n: number): string {
    return `10.${this.#net}.${n}.2`
  }

  /** Put before a command, which then runs where the server is. */
  get command(): string[] {
    return ['ip', 'netns', 'exec', this.#name]
  }

  async pull(n: number): Promise<void> {
    await this.#there('link', 'set', this.#endsOf(n)[1], 'down')
  }

  async plug(n: number): Promise<void> {
    await this.#there('link', 'set', this.#endsOf(n)[1], 'up')
  }

  /** The devices disappear with the namespace, once no process runs in it. */
  async remove(): Promise<void> {
    for (let n = 0; n < this.#count; n++) await ip('link', 'del', this.#endsOf(n)[0])
    await ip('netns', 'del', this.#name)
  }

  /** Names of devices have 15 characters at most. */
  #endsOf(n: number): [near: string, far: string] {
    const pid = process.pid.toString(36)
    return [`my${pid}n${n}`, `my${pid}f${n}`]
  }

  #there(...given: string[]): Promise<void> {
    return ip('-n', this.#name, ...given)
  }
}

/** Namespaces of runs that were killed. */
async function removeLeftovers(): Promise<void> {
  const listed = await new Response(Bun.spawn(['ip', 'netns', 'list']).stdout).text()
  const names = listed.split('\n').map((line) => line.split(' ')[0] ?? '')
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    if (!isAlive(Number(name.slice(prefix.length)))) await ip('netns', 'del', name)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function ip(...given: string[]): Promise<void> {
  const child = Bun.spawn(['ip', ...given], { stdout: 'ignore', stderr: 'pipe' })
  const said = await new Response(child.stderr).text()
  if ((await child.exited) !== 0) throw new Error(`ip ${given.join(' ')}: ${said.trim()}`)
}
