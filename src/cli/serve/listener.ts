/**
 * The port of the API, with TLS if the operator provides a certificate. Bun does not accept a new certificate in a
 * listening server (`reload` silently keeps the old one), so a new pair means another server on the same port, and then
 * the gentle end of the old one: open connections stay with it until they end. An invalid pair is refused before
 * anything stops.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Config } from '../../config.ts'
import { Failure } from '../terminal/terminal.ts'

/** The part of the Elysia app that is needed. */
export interface Listens {
  listen(options: { hostname: string; port: number; reusePort: boolean; tls?: TlsPair }): unknown
  readonly server: { readonly port?: number | undefined; stop(closeActive?: boolean): unknown } | null
}

export interface TlsPair {
  /** PEM, with the certificates between it and the root. */
  cert: string
  key: string
}

export class Listener {
  readonly #app: Listens
  readonly #config: Config
  readonly #before: NonNullable<Listens['server']>[] = []
  readonly port: number

  /**
   * @param isBeside whether the server that is being replaced still listens on the port, which both then share
   * @throws Failure when the port is unavailable or the pair is unsuitable
   */
  constructor(app: Listens, config: Config, isBeside = false) {
    this.#app = app
    this.#config = config
    if (!isBeside) this.#requireFree()
    this.port = this.#listen(config.port, readPair(config))
  }

  /** Without `/v1`. */
  get url(): string {
    const { host, tlsCert } = this.#config
    const name = reachable(host)
    return `${tlsCert === '' ? 'http' : 'https'}://${name}:${this.port}`
  }

  /** Reads certificate and key again and listens with them. @throws Failure; then it listens as before */
  renew(): void {
    const pair = readPair(this.#config)
    const { server } = this.#app
    if (server === null || pair === null) return
    // Both on the port for a moment: if the new one cannot listen, the old one still does.
    this.#listen(this.port, pair)
    this.#before.push(server)
    void server.stop(false)
  }

  /** Takes no more connections and closes idle ones. @returns once all that had begun has ended */
  async close(): Promise<void> {
    await Promise.all(this.#servers().map((server) => server.stop(false)))
  }

  /** Ends every connection. */
  async stop(): Promise<void> {
    await Promise.all(this.#servers().map((server) => server.stop(true)))
  }

  /** A port that is shared gives each server a part of the requests: another program's is never joined. */
  #requireFree(): void {
    const { host, port } = this.#config
    try {
      Bun.listen({ hostname: host, port, exclusive: true, socket: { data: () => {} } }).stop(true)
    } catch (cause) {
      throw cannotListen(this.#config, cause)
    }
  }

  #servers(): NonNullable<Listens['server']>[] {
    return [...this.#before, ...(this.#app.server === null ? [] : [this.#app.server])]
  }

  #listen(port: number, pair: TlsPair | null): number {
    const { host } = this.#config
    try {
      // Shared, so that a successor can listen before this one stops.
      this.#app.listen({ hostname: host, port, reusePort: true, ...(pair === null ? {} : { tls: pair }) })
    } catch (cause) {
      throw cannotListen(this.#config, cause)
    }
    const bound = this.#app.server?.port
    if (bound === undefined) throw new Failure(`Cannot listen on ${host}:${port}.`, 'cannot_listen')
    return bound
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is in use; give another with --port, or 0 for any free one',
  EACCES: 'ports below 1024 need root; give another with --port',
  EADDRNOTAVAIL: 'this machine has no such address; 0.0.0.0 stands for all that it has',
  ENOTFOUND: 'this name is unknown; give --host an address or a name, and the port with --port',
}

function cannotListen({ host, port }: Config, cause: unknown): Failure {
  const { code = '', message } = cause as Error & { code?: string }
  const why = reasons[code] ?? message
  return new Failure(`Cannot listen on ${host}:${port}: ${why}`, 'cannot_listen')
}

const certificates = /-----BEGIN CERTIFICATE-----.*?(-----END CERTIFICATE-----|$)/gs

/** @returns null: no TLS @throws Failure in words for the operator */
function readPair({ tlsCert, tlsKey }: Config): TlsPair | null {
  if (tlsCert === '' && tlsKey === '') return null
  if (tlsCert === '' || tlsKey === '') throw unfit('TLS needs both, --tls-cert and --tls-key.')
  const pair = { cert: readPem(tlsCert), key: readPem(tlsKey) }
  let isPair: boolean
  try {
    // Only the first one is read below, and the others of a chain may be cut short.
    for (const [one] of pair.cert.matchAll(certificates)) new X509Certificate(one)
    isPair = new X509Certificate(pair.cert).checkPrivateKey(createPrivateKey(pair.key))
  } catch (cause) {
    throw unfit(`${tlsCert} and ${tlsKey} are not a certificate and its key in PEM: ${(cause as Error).message}`)
  }
  if (!isPair) throw unfit(`The key in ${tlsKey} is not that of the certificate in ${tlsCert}.`)
  return pair
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw unfit(`${path} cannot be read: ${(cause as Error).message}`)
  }
}

const unfit = (message: string): Failure => new Failure(message, 'bad_setting')

/** The host by which this machine reaches a server that listens there: no client can connect to "every address". */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
