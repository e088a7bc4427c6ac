/**
 * Decides who may call from a browser. Keyed routes: no origin unless CORS_ORIGINS names it, because keys belong on
 * servers. Public audio is open to every page's bare `<audio>` element.
 */
export interface Cors {
  /** Adds the headers for a keyed route if the origin is allowed. */
  apply(request: Request, headers: Headers): void
  /** Whether a preflight from this origin gets permission. */
  allows(origin: string | null): boolean
}

const exposed =
  'X-Request-Id, X-Myna-Warning, Retry-After, retry-after-ms, x-should-retry, Content-Range, Accept-Ranges'

export function corsFor(origins: readonly string[]): Cors {
  const any = origins.includes('*')
  const allowed = new Set(origins)
  const allows = (origin: string | null): boolean => origin !== null && (any || allowed.has(origin))
  return {
    allows,
    apply(request, headers) {
      if (origins.length === 0 || headers.has('access-control-allow-origin')) return
      headers.append('vary', 'Origin')
      const origin = request.headers.get('origin')
      if (!allows(origin)) return
      headers.set('access-control-allow-origin', origin ?? '')
      headers.set('access-control-expose-headers', exposed)
    },
  }
}

/** Lets any page load this answer. */
export function openToAll(headers: Headers): void {
  headers.set('access-control-allow-origin', '*')
  headers.set('access-control-expose-headers', exposed)
  headers.set('cross-origin-resource-policy', 'cross-origin')
  headers.set('timing-allow-origin', '*')
}

export function preflight(request: Request, cors: Cors, headers: Headers, isPublic: boolean): Response {
  if (isPublic) openToAll(headers)
  if (isPublic || cors.allows(request.headers.get('origin'))) {
    headers.set('access-control-allow-methods', 'GET,HEAD,POST,PATCH,DELETE,OPTIONS')
    headers.set('access-control-allow-headers', request.headers.get('access-control-request-headers') ?? '*')
    headers.set('access-control-max-age', '86400')
  }
  return new Response(null, { status: 204 })
}
