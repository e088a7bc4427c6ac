import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createSocket, type Socket } from 'node:dgram'
import { decode, type DecodedPacket, encode, type Question } from 'dns-packet'
import { systemClock, systemTimer } from '../domain/time.ts'
import { announce, isOnLink, reachableAddresses } from './zeroconf.ts'

const loopback = '127.0.0.1'
const [group, mdnsPort] = ['224.0.0.251', 5353]
const type = '_wyoming._tcp.local'

/** A resolver on the loopback interface. */
class Resolver {
  readonly socket: Socket = createSocket({ type: 'udp4', reuseAddr: true })
  readonly packets: DecodedPacket[] = []
  #wake: () => void = () => {}

  async open(port: number): Promise<this> {
    this.socket.on('message', (bytes) => {
      const packet = packetOf(bytes)
      if (packet !== null) this.packets.push(packet)
      this.#wake()
    })
    await new Promise<void>((resolve) => this.socket.bind(port, '0.0.0.0', resolve))
    this.socket.addMembership(group, loopback)
    this.socket.setMulticastInterface(loopback)
    this.socket.setMulticastLoopback(true)
    return this
  }

  send(bytes: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.socket.send(bytes, mdnsPort, group, () => resolve()))
  }

  ask(...questions: Question[]): Promise<void> {
    return this.send(encode({ type: 'query', id: 7, questions }))
  }

  /** The first packet, past or future, for which this is true. Earlier packets are dropped. */
  async next(isIt: (packet: DecodedPacket) => boolean): Promise<DecodedPacket> {
    for (;;) {
      const packet = this.packets.shift()
      if (packet === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
      else if (isIt(packet)) return packet
    }
  }
}

/** null: the rubbish that a test has sent to all. */
function packetOf(bytes: Uint8Array): DecodedPacket | null {
  try {
    return decode(Buffer.from(bytes))
  } catch {
    return null
  }
}

let legacy: Resolver
let listener: Resolver
beforeAll(async () => {
  legacy = await new Resolver().open(0)
  listener = await new Resolver().open(mdnsPort)
})
afterAll(() => [legacy, listener].forEach(({ socket }) => socket.close()))

const start = (name: string) =>
  announce({
    name,
    port: 10_300,
    addresses: () => [loopback],
    clock: systemClock,
    timer: systemTimer,
    report: (message, cause) => {
      throw new Error(message, { cause })
    },
  })

const isAbout = (name: string) => (packet: DecodedPacket) =>
  packet.type === 'response' &&
  (packet.answers ?? []).some((answer) => answer.type === 'PTR' && answer.data === `${name}.${type}`)
const ttls = (packet: DecodedPacket) =>
  [...(packet.answers ?? []), ...(packet.additionals ?? [])].map((answer) => ('ttl' in answer ? answer.ttl : null))

test('announces itself, answers questions, and withdraws its name', async () => {
  const announcement = start('myna-one')
  const announced = await listener.next(isAbout('myna-one'))
  expect(announced.additionals).toContainEqual(
    expect.objectContaining({
      name: `myna-one.${type}`,
      type: 'SRV',
      data: expect.objectContaining({ port: 10_300, target: 'myna-one.local' }),
    }),
  )
  expect(announced.additionals).toContainEqual(
    expect.objectContaining({ name: 'myna-one.local', type: 'A', data: loopback }),
  )
  expect(Math.min(...ttls(announced).map(Number))).toBeGreaterThan(0)

  // A question from another port is answered there, with the question and its id.
  await legacy.ask({ name: type, type: 'PTR' })
  const answer = await legacy.next(isAbout('myna-one'))
  expect(answer.id).toBe(7)
  expect(answer.questions).toEqual([expect.objectContaining({ name: type })])

  await announcement.stop()
  const goodbye = await listener.next((packet) => isAbout('myna-one')(packet) && ttls(packet).every((ttl) => ttl === 0))
  expect(goodbye.type).toBe('response')
})

test('other names and rubbish are not answered', async () => {
  const announcement = start('myna-two')
  await listener.next(isAbout('myna-two'))
  for (const bytes of [new Uint8Array(0), new Uint8Array([1, 2, 3]), new Uint8Array(9000).fill(0xff)]) {
    await legacy.send(bytes)
  }
  await legacy.ask({ name: '_http._tcp.local', type: 'PTR' })
  await legacy.ask({ name: 'myna-three.local', type: 'A' })
  await legacy.ask({ name: 'MYNA-two.local', type: 'A' })
  const first = await legacy.next(({ type: kind }) => kind === 'response')
  expect(first.questions).toEqual([expect.objectContaining({ name: 'MYNA-two.local' })])
  await announcement.stop()
})

test('a loopback address is not announced', () => {
  expect(reachableAddresses(loopback)).toEqual([])
  expect(reachableAddresses('0.0.0.0')).not.toContain(loopback)
})

test.each([
  ['192.168.1.77', true],
  ['192.168.2.1', false],
  ['10.9.255.255', true],
  ['10.10.0.0', false],
  ['127.0.0.2', true],
  ['8.8.8.8', false],
  ['fe80::1', false],
])('%s is in a network of this machine: %p', (address, expected) => {
  const own = [
    { family: 'IPv4', address: '127.0.0.1', netmask: '255.0.0.0' },
    { family: 'IPv4', address: '192.168.1.5', netmask: '255.255.255.0' },
    { family: 'IPv4', address: '10.8.1.1', netmask: '255.254.0.0' },
    { family: 'IPv4', address: '203.0.113.9', netmask: '255.255.255.255' },
    { family: 'IPv6', address: 'fe80::2', netmask: 'ffff:ffff:ffff:ffff::' },
  ]
  expect(isOnLink(address, own)).toBe(expected)
})
