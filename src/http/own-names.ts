/**
 * Decides which pages a request may come from where no key proves anything: anonymous mode, console sessions, signing
 * in. Any web page can send requests to a server on its visitor's machine or network; by DNS rebinding it can even
 * read the answers, under a name of its own that resolves to this server. So the name in `Host` must be one that no
 * stranger can own, or one that the operator set; and the page must come from this server, or from an origin that the
 * operator allows. Requests with a key need none of this, because no page has the key.
 */
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { MynaError } from '../domain/error.ts'
import type { Cors } from './cors.ts'

export interface OwnNamesSettings {
  /** An origin, or empty. */
  publicUrl: string
  /** The address or name that the server listens on. */
  host: string
}

/** Endings that no public registry sells (RFC 6761, RFC 6762, RFC 8375, and `internal` by ICANN). */
const privateEndings = ['.localhost', '.local', '.internal', '.lan', '.home.arpa']
const form = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i

export class OwnNames {
  readonly #names: ReadonlySet<string>

  constructor({ publicUrl, host }: OwnNamesSettings) {
    const given = URL.canParse(publicUrl) ? [new URL(publicUrl).hostname] : []
    this.#names = new Set([...given, host, hostname()].map((name) => name.toLowerCase()))
  }

  /** @param host as in the header, with or without a port */
  has(host: string): boolean {
    const name = nameOf(host)
    const isPlain = !name.includes('.')
    // A page under an address, or under a name without a dot, is a page of this network.
    return isPlain || isIP(name) !== 0 || this.#names.has(name) || privateEndings.some((end) => name.endsWith(end))
  }
}

/** The one readable `Host` of a request; null: none, or several. */
export function hostOf(request: Request): string | null {
  const host = request.headers.get('host') ?? ''
  return form.test(host) && URL.canParse(`http://${host}`) ? host : null
}

/** @throws MynaError `foreign_origin` */
export function requireOwnName(request: Request, names: OwnNames): void {
  const host = hostOf(request)
  if (host !== null && names.has(host)) return
  throw new MynaError(
    'foreign_origin',
    `This server does not know the name '${nameOf(host ?? '')}' as its own. Send a key, use its IP address, ` +
      'or set MYNA_PUBLIC_URL to the address that clients use.',
  )
}

/**
 * For requests that act without a credential: no page of a stranger may send them.
 * @throws MynaError `foreign_origin`
 */
export function requireOwnPage(request: Request, names: OwnNames, cors: Cors): void {
  requireOwnName(request, names)
  const origin = request.headers.get('origin')
  if (origin !== null && cors.allows(origin)) return
  const isHere = origin !== null && URL.canParse(origin) && new URL(origin).host === hostOf(request)?.toLowerCase()
  const site = request.headers.get('sec-fetch-site')
  // Programs send neither header; a browser that opens an address says `none`.
  const isForeign = origin === null ? site === 'cross-site' || site === 'same-site' : !isHere && site !== 'same-origin'
  if (!isForeign) return
  throw new MynaError(
    'foreign_origin',
    'A page of another origin may not use this server without a key. MYNA_CORS_ORIGINS allows origins.',
  )
}

const nameOf = (host: string): string =>
  host
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
