/**
 * Announces the Wyoming port on the local network, so that Home Assistant finds it by itself: multicast DNS (RFC 6762)
 * and service discovery (RFC 6763), as far as one service of one program needs them. One packet has all the records.
 * The name contains an id of this installation, so no two of them claim the same one.
 *
 * The library that Home Assistant uses did not find a service announced by a library of this kind (`multicast-dns` 7);
 * it finds this one.
 */
import { createSocket, type Socket } from 'node:dgram'
import { networkInterfaces } from 'node:os'
import { type Answer, AUTHORITATIVE_ANSWER, decode, type DecodedPacket, encode } from 'dns-packet'
import type { Clock, Timer } from '../domain/time.ts'

const group = '224.0.0.251'
const mdnsPort = 5353
const serviceType = '_wyoming._tcp.local'
/** Asked by those who list every kind of service. */
const allTypes = '_services._dns-sd._udp.local'
/** As RFC 6762 10 recommends: names of hosts may move, the rest is asked for again only now and then. */
const [hostTtlS, otherTtlS] = [120, 4500]
/** A record is sent to all no more often (RFC 6762 6). */
const quietMs = 1000
/** Addresses of this machine may change; a laptop may wake up elsewhere. */
const lookAgainMs = 60_000

export interface Announcement {
  /** A single label: `myna-1a2b3c4d`. */
  name: string
  port: number
  /** IPv4 addresses of this machine through which the port can be reached. */
  addresses: () => readonly string[]
  clock: Clock
  timer: Timer
  report: (message: string, cause: unknown) => void
}

/** Where a port that listens on this host can be reached from outside; nothing for a loopback address. */
export function reachableAddresses(host: string): string[] {
  const outside = ownAddresses()
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address)
  return host === '0.0.0.0' || host === '::' ? outside : outside.filter((address) => address === host)
}

/**
 * Whether an address is in one of the networks that this machine is in. Only there a question is answered: from
 * elsewhere its sender may be forged, and the answer is many times as long (RFC 6762 11).
 * @param own as `networkInterfaces` lists them
 */
export function isOnLink(
  address: string,
  own: readonly { family: string; address: string; netmask: string }[],
): boolean {
  const number = (text: string) => text.split('.').reduce((sum, part) => 256 * sum + Number(part), 0)
  return own.some(({ family, address: ours, netmask }) => {
    const size = 2 ** 32 - number(netmask)
    return family === 'IPv4' && Math.floor(number(address) / size) === Math.floor(number(ours) / size)
  })
}

const ownAddresses = () => Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])

/** Announces until it is stopped. What cannot be announced is reported; the service works without. */
export function announce(announcement: Announcement): { stop(): Promise<void> } {
  let interfaces = new Map<string, Interface>()
  const follow = () => {
    const wanted = new Set(announcement.addresses())
    for (const [address, one] of interfaces) if (!wanted.has(address)) one.close()
    interfaces = new Map(
      [...wanted].map((address) => [address, interfaces.get(address) ?? new Interface(announcement, address)]),
    )
    cancel = announcement.timer.after(lookAgainMs, follow)
  }
  let cancel = () => {}
  follow()
  return {
    async stop() {
      cancel()
      await Promise.all([...interfaces.values()].map((one) => one.leave()))
    },
  }
}

/** One address of this machine, and who can be reached through it. */
class Interface {
  readonly #announcement: Announcement
  readonly #address: string
  readonly #socket: Socket
  #isOpen = false
  #sentMs = -Infinity
  #cancel = () => {}

  constructor(announcement: Announcement, address: string) {
    this.#announcement = announcement
    this.#address = address
    this.#socket = createSocket({ type: 'udp4', reuseAddr: true })
    this.#socket.on('error', (error) => {
      announcement.report(`Wyoming is not announced on ${address}`, error)
      this.close()
    })
    this.#socket.on('message', (bytes, from) => this.#receive(bytes, from))
    this.#socket.bind(mdnsPort, '0.0.0.0', () => this.#begin())
  }

  close(): void {
    this.#cancel()
    if (this.#isOpen) this.#socket.close()
    this.#isOpen = false
  }

  /** Withdraws the announcement: those who have cached it forget it at once. */
  async leave(): Promise<void> {
    if (this.#isOpen) await this.#send(this.#packet(0), mdnsPort, group)
    this.close()
  }

  #begin(): void {
    this.#isOpen = true
    try {
      this.#socket.addMembership(group, this.#address)
      this.#socket.setMulticastInterface(this.#address)
      this.#socket.setMulticastTTL(255)
      this.#socket.setMulticastLoopback(true)
    } catch (error) {
      this.#announcement.report(`Wyoming is not announced on ${this.#address}`, error)
      return this.close()
    }
    void this.#tellAll()
    // Twice, for a packet may be lost (RFC 6762 8.3).
    this.#cancel = this.#announcement.timer.after(quietMs, () => void this.#tellAll())
  }

  #receive(bytes: Uint8Array, from: { address: string; port: number }): void {
    let query: DecodedPacket
    try {
      query = decode(Buffer.from(bytes))
    } catch {
      return
    }
    if (query.type !== 'query' || !this.#isAskedFor(query) || !isOnLink(from.address, ownAddresses())) return
    // One that does not speak multicast DNS waits for an answer to its own port, with its own question.
    if (from.port !== mdnsPort) {
      void this.#send(this.#packet(1, query), from.port, from.address)
      return
    }
    const nowMs = this.#announcement.clock.monotonicMs()
    if (nowMs - this.#sentMs >= quietMs) void this.#tellAll()
  }

  /** A query that already lists our record as known needs no answer. */
  #isAskedFor({ questions = [], answers = [] }: DecodedPacket): boolean {
    const ours = new Set([serviceType, allTypes, this.#instance, this.#host].map((name) => name.toLowerCase()))
    const isKnown = answers.some(
      (answer) => answer.type === 'PTR' && answer.data === this.#instance && (answer.ttl ?? 0) > otherTtlS / 2,
    )
    const asked = questions.filter(({ name }) => ours.has(name.toLowerCase()))
    return asked.some(({ name }) => !(isKnown && name.toLowerCase() === serviceType))
  }

  get #instance(): string {
    return `${this.#announcement.name}.${serviceType}`
  }

  get #host(): string {
    return `${this.#announcement.name}.local`
  }

  async #tellAll(): Promise<void> {
    this.#sentMs = this.#announcement.clock.monotonicMs()
    await this.#send(this.#packet(1), mdnsPort, group)
  }

  /** @param lives 0: the records end with this packet @param query that is answered to its sender alone */
  #packet(lives: 0 | 1, query: DecodedPacket | null = null): Uint8Array {
    const { port } = this.#announcement
    const [hostTtl, otherTtl] = [lives * hostTtlS, lives * otherTtlS]
    const flush = query === null
    const answers: Answer[] = [
      { name: serviceType, type: 'PTR', ttl: otherTtl, data: this.#instance },
      { name: allTypes, type: 'PTR', ttl: otherTtl, data: serviceType },
    ]
    const additionals: Answer[] = [
      {
        name: this.#instance,
        type: 'SRV',
        ttl: hostTtl,
        flush,
        data: { port, target: this.#host, priority: 0, weight: 0 },
      },
      { name: this.#instance, type: 'TXT', ttl: otherTtl, flush, data: [] },
      { name: this.#host, type: 'A', ttl: hostTtl, flush, data: this.#address },
    ]
    const asked = query === null ? { id: 0 } : { id: query.id ?? 0, questions: query.questions ?? [] }
    return encode({ type: 'response', ...asked, flags: AUTHORITATIVE_ANSWER, answers, additionals })
  }

  #send(packet: Uint8Array, port: number, address: string): Promise<void> {
    return new Promise((resolve) => {
      if (!this.#isOpen) return resolve()
      // Ignores the error of a network that has just gone away: its address is searched again.
      this.#socket.send(packet, port, address, () => resolve())
    })
  }
}
