/** Serves the files of pages: each with an ETag of its content, cached for as long as its address allows. */
import type { Action } from './exchange.ts'

export interface Asset {
  type: string
  body: Blob
  /** Hash of the content: part of addresses, and the ETag. */
  digest: string
}

export async function asset(type: string, body: Blob): Promise<Asset> {
  const digest = new Bun.CryptoHasher('sha256')
    .update(await body.bytes())
    .digest('hex')
    .slice(0, 16)
  return { type, body, digest }
}

/** For addresses that change with the content. */
export const kept = (make: () => Promise<Asset>): Action =>
  serve(make, { 'cache-control': 'public, max-age=31536000, immutable' })

/** For addresses that stay the same: revalidated each time, answered with a 304 while unchanged. */
export const fresh = (make: () => Promise<Asset>, headers: Record<string, string> = {}): Action =>
  serve(make, { 'cache-control': 'no-cache', ...headers })

const serve =
  (make: () => Promise<Asset>, headers: Record<string, string>): Action =>
  async ({ request }) => {
    const { type, body, digest } = await make()
    const etag = `"${digest}"`
    const known = (request.headers.get('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
    if (known.includes(etag) || known.includes('*'))
      return new Response(null, { status: 304, headers: { ...headers, etag } })
    return new Response(body, { headers: { ...headers, etag, 'content-type': type } })
  }

/** Made on first use, then kept. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}
