/**
 * The console's way to the server: same origin, the session's cookie, JSON in and out. What the server refuses becomes
 * an `ApiError` with its words, which pages show as they are.
 */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null,
    /** How long the server asks to wait; null: it does not. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(message)
  }
}

/** Fires `ended` when an answer says that the session is over, and `begun` after signing in again. */
export const session = new EventTarget()

export const sessionPath = '/console/api/session'

interface Envelope {
  error?: { code?: string; message?: string; request_id?: string }
}

/** @throws ApiError; `code` is `unreachable` when no answer came */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response
  try {
    answer = await fetch(path, { credentials: 'same-origin', ...init })
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new ApiError(0, 'unreachable', 'The server cannot be reached. Is it still running?', null)
  }
  if (answer.ok) return answer
  if (answer.status === 401 && path !== sessionPath) {
    session.dispatchEvent(new Event('ended'))
    throw new ApiError(401, 'session_ended', 'Your session has ended: sign in again.', null)
  }
  const { error } = await answer.json().then(
    (body: Envelope) => body,
    (): Envelope => ({}),
  )
  const waitMs = Number(answer.headers.get('retry-after-ms'))
  throw new ApiError(
    answer.status,
    error?.code ?? 'unknown',
    error?.message ?? `The server answered with status ${answer.status}.`,
    answer.headers.get('x-request-id'),
    waitMs > 0 ? waitMs : null,
  )
}

/** @throws ApiError */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await request(path, signal === undefined ? {} : { signal })
  return (await answer.json()) as T
}

/** @returns undefined where the answer is empty @throws ApiError */
export async function send<T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? { method } : { method, headers: jsonType, body: JSON.stringify(body) }
  const answer = await request(path, init)
  const content = await answer.text()
  return (content === '' ? undefined : JSON.parse(content)) as T
}

export const jsonType = { 'content-type': 'application/json' }
