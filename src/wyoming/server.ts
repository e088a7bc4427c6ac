/**
 * The Wyoming protocol over TCP: Home Assistant's own, without authentication and without encryption by design, so it
 * listens on the loopback address unless the operator names another. Reading waits while a client sends faster than it
 * is heard, and speech waits while a client reads slower than it is spoken.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { Connection } from './connection.ts'
import { encodeEvent, FramingError } from './framing.ts'
import type { WyomingParts } from './parts.ts'

const connectionsMax = 256
/**
 * How long a connection may be silent while the client has to speak. A client that hangs in the middle of its sound
 * would keep one of the few places for transcriptions.
 */
const idleMs = 600_000
/** A machine that lost its power or its network ends no connection: after this silence the system asks for it. */
const keepAliveMs = 30_000

export interface WyomingServer {
  host: string
  port: number
  /** Ends every connection, and what is worked on for it. */
  stop(): Promise<void>
}

/** @throws Error of the system when the port is unavailable */
export async function startWyoming(
  parts: WyomingParts,
  { host, port }: { host: string; port: number },
): Promise<WyomingServer> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    if (sockets.size >= connectionsMax) return void socket.destroy()
    sockets.add(socket)
    void serve(parts, socket).finally(() => sockets.delete(socket))
  })
  await listening(server, host, port)
  const address = server.address()
  return {
    host,
    port: typeof address === 'object' && address !== null ? address.port : port,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
}

async function serve(parts: WyomingParts, socket: Socket): Promise<void> {
  const connection = new Connection(parts, async (type, data = null, payload = null) => {
    const bytes = encodeEvent(parts.version, type, data, payload)
    if (socket.destroyed || !socket.writable) throw new Error('the connection is gone')
    if (!socket.write(bytes)) await drained(socket)
  })
  // A connection that breaks is over like any other; its reason is the client's affair.
  socket.on('error', () => {})
  socket.on('close', () => connection.close())
  socket.setKeepAlive(true, keepAliveMs)
  const idle = watchIdle(parts, socket, connection)
  try {
    for await (const bytes of socket as AsyncIterable<Uint8Array>) {
      // While it is held back, the client cannot speak.
      idle.stop()
      await connection.receive(bytes)
      idle.renew()
    }
  } catch (error) {
    if (error instanceof FramingError) parts.log({ event: 'wyoming connection closed', reason: error.message })
    else if (!socket.destroyed) parts.report('a Wyoming connection failed', error)
  } finally {
    idle.stop()
    connection.close()
    socket.destroy()
  }
}

/** Resolves when the client has read what was written. @throws Error once the connection is gone */
function drained(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      socket.removeListener('drain', done)
      socket.removeListener('close', done)
      if (socket.destroyed) reject(new Error('the connection is gone'))
      else resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
  })
}

function watchIdle({ timer }: WyomingParts, socket: Socket, connection: Connection) {
  let stop = () => {}
  const renew = () => {
    stop()
    stop = timer.after(idleMs, () => (connection.isBusy ? renew() : socket.destroy()))
  }
  renew()
  return { renew, stop: () => stop() }
}
