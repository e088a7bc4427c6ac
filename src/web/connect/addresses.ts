/** The addresses at which programs reach this server, from the one that the browser has and what the server says. */

export interface ConnectFacts {
  public_url: string | null
  /** Empty: it listens to its own machine alone. */
  network_urls: string[]
  wyoming_port: number | null
  is_wyoming_open: boolean
}

export interface Addresses {
  /** As this browser sees it. */
  origin: string
  /** Whether that is the browser's own machine. */
  isLocal: boolean
  /** From a container on the server's machine; null: `origin` works there too. */
  docker: string | null
  /** From other machines; null: none reaches it. */
  elsewhere: string | null
}

const loopbacks = ['localhost', '127.0.0.1', '[::1]']

export function addressesOf(origin: string, facts: ConnectFacts | null): Addresses {
  const url = new URL(origin)
  const isLocal = loopbacks.includes(url.hostname)
  const port = url.port === '' ? '' : `:${url.port}`
  const known = facts?.public_url ?? facts?.network_urls[0] ?? null
  return {
    origin,
    isLocal,
    docker: isLocal ? `${url.protocol}//host.docker.internal${port}` : null,
    elsewhere: isLocal ? known : origin,
  }
}
