/**
 * A connection between a box and its database that can be cut, held and slowed down, and that can lose the answer to a
 * COMMIT: a TCP relay, which needs neither privileges nor a kernel module.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'

interface Link {
  client: Socket
  server: Socket
  isHeld: boolean
}

export class Relay {
  readonly #server: Server
  readonly #links = new Set<Link>()
  #isDown = false
  #lostCommits = 0
  delayMs = 0
  port = 0

  private constructor(toPort: number, toHost: string) {
    this.#server = createServer((client) => this.#link(client, connect(toPort, toHost)))
  }

  static async open(toPort: number, toHost = '127.0.0.1'): Promise<Relay> {
    const relay = new Relay(toPort, toHost)
    await new Promise<void>((resolve) => relay.#server.listen(0, '127.0.0.1', resolve))
    const address = relay.#server.address()
    relay.port = typeof address === 'object' && address !== null ? address.port : 0
    return relay
  }

  #link(client: Socket, server: Socket): void {
    const link = { client, server, isHeld: false }
    for (const end of [client, server]) {
      end.setNoDelay(true)
      end.on('error', () => {})
      end.on('close', () => this.#end(link))
    }
    if (this.#isDown) return this.#end(link)
    this.#links.add(link)
    let isDeaf = false
    client.on('data', (bytes) => {
      if (link.isHeld) return
      const loses = this.#lostCommits > 0 && bytes.includes('COMMIT')
      this.#later(() => server.write(bytes))
      if (!loses) return
      this.#lostCommits--
      isDeaf = true
    })
    server.on('data', (bytes) => {
      // The server has answered, so it has committed.
      if (isDeaf) this.#end(link)
      else if (!link.isHeld) this.#later(() => client.write(bytes))
    })
  }

  #later(send: () => void): void {
    if (this.delayMs === 0) send()
    else setTimeout(send, this.delayMs)
  }

  #end(link: Link): void {
    this.#links.delete(link)
    link.client.destroy()
    link.server.destroy()
  }

  /** The answers to this many of the next COMMITs are dropped, and their connections are closed. */
  loseCommits(count: number): void {
    this.#lostCommits = count
  }

  get commitsToLose(): number {
    return this.#lostCommits
  }

  /** Ends every connection at once and refuses new ones until `mend`. */
  cut(): void {
    this.#isDown = true
    for (const link of this.#links) this.#end(link)
  }

  /** Drops everything that these connections send from now on, and keeps them open: like an unplugged cable. */
  hold(): void {
    for (const link of this.#links) link.isHeld = true
  }

  mend(): void {
    this.#isDown = false
  }

  close(): void {
    this.cut()
    this.#server.close()
  }
}
