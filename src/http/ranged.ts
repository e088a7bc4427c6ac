/**
 * A finished file as HTTP knows it: validators, parts, and when a part is not wanted after all (RFC 9110, 13 and 14).
 * Safari plays no audio without parts.
 */
import { MynaError } from '../domain/error.ts'

export interface Whole {
  bytes: Uint8Array<ArrayBuffer>
  type: string
  /** With its quotes; a strong tag. */
  etag: string
  modifiedMs: number
  cacheControl: string
}

/**
 * 200, 206 or 304.
 * @param headers of the answer in any case: a 416 reports the size there
 * @throws MynaError `range_not_satisfiable`
 */
export function ranged(request: Request, whole: Whole, headers: Headers): Response {
  const { bytes, type, etag, cacheControl } = whole
  const modified = new Date(Math.floor(whole.modifiedMs / 1000) * 1000).toUTCString()
  const about = { etag, 'last-modified': modified, 'accept-ranges': 'bytes', 'cache-control': cacheControl }
  if (isKnown(request.headers, etag, modified)) return new Response(null, { status: 304, headers: about })
  const described = { ...about, 'content-type': type }
  const part = isForThis(request.headers.get('if-range'), etag, modified)
    ? partOf(request.headers.get('range'), bytes.length)
    : null
  if (part === null) {
    return new Response(bytes, { headers: { ...described, 'content-length': String(bytes.length) } })
  }
  if (part === 'behind the end') {
    headers.set('content-range', `bytes */${bytes.length}`)
    throw new MynaError('range_not_satisfiable', `The range is past the end: there are ${bytes.length} bytes.`)
  }
  const { from, to } = part
  return new Response(bytes.slice(from, to + 1), {
    status: 206,
    headers: {
      ...described,
      'content-range': `bytes ${from}-${to}/${bytes.length}`,
      'content-length': String(to + 1 - from),
    },
  })
}

function isKnown(headers: Headers, etag: string, modified: string): boolean {
  const tags = headers.get('if-none-match')
  if (tags !== null) {
    return tags.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
  }
  const since = Date.parse(headers.get('if-modified-since') ?? '')
  return !Number.isNaN(since) && since >= Date.parse(modified)
}

/** True without the header. A weak tag never matches, and a date only to the second. */
function isForThis(ifRange: string | null, etag: string, modified: string): boolean {
  if (ifRange === null) return true
  return ifRange.startsWith('"') || ifRange.startsWith('W/') ? ifRange.trim() === etag : ifRange.trim() === modified
}

/** @returns null: all of it, also for several ranges and for anything that is not a range of bytes */
function partOf(range: string | null, size: number): { from: number; to: number } | 'behind the end' | null {
  const match = /^bytes=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(range?.trim() ?? '')
  if (match === null) return null
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return null
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'behind the end' : { from: size - length, to: size - 1 }
  }
  const from = Number(first)
  const to = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < from) return null
  return from >= size ? 'behind the end' : { from, to }
}
