/**
 * The service's HTTP API as the commands see it, over the network like any other client. Speech is money: a request is
 * repeated only under the same idempotency key, so that it is worked on and charged once however often it is sent.
 */
import { Failure } from '../terminal/terminal.ts'

/** Attempts of one request that is refused for a moment (429, 503) or whose connection breaks before the answer. */
const attemptsMax = 4
/** A server that asks for a longer pause is not waited for. */
const pauseMsMax = 30_000
/** A short request. */
const answerMs = 30_000

export interface ApiOptions {
  /** Address of the server, with or without `/v1`. */
  url: string
  /** null: sends no credential, which some servers allow. */
  apiKey: string | null
  wait(ms: number): Promise<void>
}

/** An operation as in `GET /v1/operations/{id}`, as far as commands use it. */
export interface OperationRecord {
  id: string
  state: 'pending' | 'terminal'
  outcome: string | null
  charged_micros: number
  /** For completed speech. */
  completion_bytes?: number | null
  error: { code: string; message: string } | null
}

/** The server's refusal, in its own words. */
export class Refusal extends Failure {
  constructor(
    readonly status: number,
    code: string,
    message: string,
    /** The operation that the refusal is about. */
    readonly operationId: string | null,
    /** Which server it is, for people who run several. */
    readonly server: string,
  ) {
    super(message, code)
  }
}

export class ApiClient {
  readonly #url: string
  readonly #options: ApiOptions

  constructor(options: ApiOptions) {
    this.#options = options
    this.#url = baseUrl(options.url)
  }

  get url(): string {
    return this.#url
  }

  /**
   * The answer whose body is the audio; `X-Request-Id` names the operation.
   * @throws Refusal, Failure `no_server` if there is no answer, `connection_broken`, the signal's reason
   */
  async speech(body: object, idempotencyKey: string, signal: AbortSignal): Promise<Response> {
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey }
    return this.#insist('/audio/speech', { method: 'POST', headers, body: JSON.stringify(body), signal }, signal)
  }

  /** The answer of a clone that was accepted: the voice as it is then. @throws as `speech` */
  async clone(form: FormData, idempotencyKey: string, signal: AbortSignal): Promise<Response> {
    const headers = { 'Idempotency-Key': idempotencyKey }
    return this.#insist('/voices', { method: 'POST', headers, body: form, signal }, signal)
  }

  /** The operation that makes a voice again. A second one is refused while it runs. @throws as `speech` */
  async remake(voiceId: string, signal: AbortSignal): Promise<Response> {
    return this.#insist(`/voices/${encodeURIComponent(voiceId)}/remake`, { method: 'POST', signal }, signal)
  }

  /**
   * The answer of a transcription. It costs nothing, so it may be requested again.
   * @param form made anew for each attempt @throws as `speech`
   */
  async transcription(
    path: '/audio/transcriptions' | '/audio/translations',
    form: () => { body: ReadableStream<Uint8Array>; contentType: string },
    signal: AbortSignal,
  ): Promise<Response> {
    const request = (): RequestInit => {
      const { body, contentType } = form()
      return { method: 'POST', headers: { 'Content-Type': contentType }, body, signal }
    }
    return this.#insist(path, request, signal)
  }

  /** Work that may be sent more than once: again when it is refused for a moment or the connection breaks. */
  async #insist(path: string, request: RequestInit | (() => RequestInit), signal: AbortSignal): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const init = typeof request === 'function' ? request() : request
      const answer = await this.#fetch(path, init, attempt < attemptsMax)
      if (answer !== null && answer.ok) return answer
      const pauseMs = answer === null ? 500 * attempt : pauseAsked(answer)
      const refusal = answer === null ? null : await refusalOf(answer, this.#url)
      if (refusal !== null && (pauseMs === null || attempt === attemptsMax)) throw refusal
      await this.#options.wait(pauseMs ?? 0)
      signal.throwIfAborted()
    }
  }

  /** @throws Refusal, Failure */
  async operation(id: string): Promise<OperationRecord> {
    const answer = await this.ask(`/operations/${encodeURIComponent(id)}`)
    return (await answer.json()) as OperationRecord
  }

  /** Asks the server to stop the operation. @returns whether it was still running @throws Refusal, Failure */
  async cancel(id: string): Promise<boolean> {
    const answer = await this.ask(`/operations/${encodeURIComponent(id)}/cancel`, 'POST')
    return ((await answer.json()) as { ok: boolean }).ok
  }

  /** Whether amounts matter to this caller; a server that does not say so has no balances. */
  async isPrepaid(): Promise<boolean> {
    try {
      const { balance_micros: balance } = (await (await this.ask('/me')).json()) as { balance_micros?: unknown }
      return typeof balance === 'number'
    } catch {
      return false
    }
  }

  /** Any other request, sent once. @param path below /v1 @param body as JSON @throws Refusal, Failure */
  async ask(path: string, method = 'GET', body?: object): Promise<Response> {
    const sent =
      body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
    const answer = await this.#fetch(path, { method, ...sent, signal: AbortSignal.timeout(answerMs) }, false)
    if (answer?.ok === true) return answer
    throw answer === null
      ? new Failure('The server did not answer.', 'connection_broken')
      : await refusalOf(answer, this.#url)
  }

  /** @returns null when the connection broke before the answer and `again` says that this will be tried once more */
  async #fetch(path: string, init: RequestInit, again: boolean): Promise<Response | null> {
    const { apiKey } = this.#options
    const headers = { ...init.headers, ...(apiKey === null ? {} : { Authorization: `Bearer ${apiKey}` }) }
    try {
      return await fetch(`${this.#url}/v1${path}`, { ...init, headers, timeout: false })
    } catch (error) {
      if (init.signal?.aborted) throw error
      if ((error as { code?: unknown }).code !== 'ECONNRESET') throw this.#unreachable(error)
      if (again) return null
      throw new Failure(`The connection to ${this.#url} broke before an answer arrived.`, 'connection_broken')
    }
  }

  #unreachable(error: unknown): Failure {
    const { code = '', message } = error as Error & { code?: string }
    const why = reasons[code] ?? (message.split(/[.:] /)[0] ?? '').replace(/\.$/, '')
    return new Failure(
      `No server answers at ${this.#url} (${why}). Start one with: myna serve, or name another with --url or MYNA_URL.`,
      'no_server',
    )
  }
}

/** Why there is no connection. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'this name is unknown',
  EPROTO: 'it does not speak https there',
  ETIMEDOUT: 'no reply in time',
}

/** Without a trailing `/v1`, because people type either. @throws Failure if it is not an address */
function baseUrl(given: string): string {
  const url = URL.parse(given.includes('://') ? given : `http://${given}`)
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new Failure(`'${given}' is not a server address. Write it as http://127.0.0.1:8790`, 'invalid_url')
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '')
}

/** How long to wait before sending the request again; null: do not. */
function pauseAsked(answer: Response): number | null {
  if (answer.status !== 429 && answer.status !== 503) return null
  if (answer.headers.get('x-should-retry') === 'false') return null
  const ms = Number(answer.headers.get('retry-after-ms') ?? Number.NaN)
  const pauseMs = Number.isFinite(ms) ? ms : 1000 * Number(answer.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(pauseMs) && pauseMs >= 0 && pauseMs <= pauseMsMax ? pauseMs : null
}

async function refusalOf(answer: Response, server: string): Promise<Refusal> {
  const body: unknown = await answer.json().catch(() => null)
  const error = (body as { error?: unknown } | null)?.error
  const {
    code,
    message,
    operation_id: about,
  } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>
  const requestId = answer.headers.get('x-request-id')
  return new Refusal(
    answer.status,
    typeof code === 'string' ? code : 'unexpected_answer',
    typeof message === 'string' ? message : `The server answered ${answer.status} ${answer.statusText}.`,
    typeof about === 'string' ? about : requestId?.startsWith('op_') === true ? requestId : null,
    server,
  )
}
