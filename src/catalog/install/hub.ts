/**
 * The Hugging Face hub, or another host at HF_ENDPOINT, as far as a download needs it: facts about a file (`HEAD
 * .../resolve/...`), and its bytes from any position. For a large file the hub redirects to another host and states the
 * facts on the way (`X-Linked-Size`, `X-Linked-ETag`: its SHA-256); the ETag of a small one is its git id. Redirects
 * are followed here, because the token is only for the hub.
 */
import type { Timer } from '../../domain/time.ts'
import { Interruption, ModelError, type ModelErrorCode, NeverReached } from '../model-error.ts'

/** Address of the hub by default. */
export const publicHub = 'https://huggingface.co'

export interface HubOptions {
  /** Without a trailing slash. */
  endpoint: string
  /** Token of the user's account; null: none. */
  token: string | null
  timer: Timer
  /** Longest wait for the head of an answer. */
  answerMs: number
  /** How we identify ourselves to the hub. */
  userAgent: string
  /** For a host that is not a hub but has the files: the path below the endpoint. */
  pathOf?: (file: HubPlace) => string
}

/** One file on the hub. */
export interface HubPlace {
  /** `owner/name`. */
  repo: string
  /** A commit, or the name of a branch. */
  revision: string
  /** Within the repository. */
  path: string
}

/** Facts that the hub states about a file; null: it does not. */
export interface FileFacts {
  /** The commit of the branch. */
  commit: string | null
  sizeBytes: number | null
  sha256: string | null
  gitSha1: string | null
}

/** Bytes of a file as they come. */
export interface FileBytes {
  body: ReadableStream<Uint8Array>
  /** Position in the file where `body` begins. */
  fromBytes: number
  /** null: the other side does not say. */
  totalBytes: number | null
  /** Identifies exactly these bytes, on any host; null: nothing reliable. */
  etag: string | null
}

interface Followed {
  response: Response
  /** Target of the last redirect. */
  url: URL
  facts: FileFacts
}

const redirectsMax = 10
const redirects = [301, 302, 303, 307, 308]

export class Hub {
  readonly #options: HubOptions
  /** Some host has answered: the network works, and the address is right. */
  #hasAnswered = false

  constructor(options: HubOptions) {
    this.#options = options
  }

  /** @throws Interruption, ModelError of the hub, the signal's reason */
  async describe(file: HubPlace, signal: AbortSignal): Promise<FileFacts> {
    const { response, facts } = await this.#follow('HEAD', file, {}, signal, ({ sha256 }) => sha256 !== null)
    await response.body?.cancel()
    return facts
  }

  /**
   * @param fromBytes where to begin; another side that cannot do so begins at 0
   * @param etag of the bytes before; null: the content will be checked by a hash, so that it need not be the same copy
   * @param check what the hub says of the file, before anything of it comes; may throw
   * @throws Interruption, ModelError of the hub, what `check` throws, the signal's reason
   */
  async read(
    file: HubPlace,
    fromBytes: number,
    etag: string | null,
    signal: AbortSignal,
    check: (facts: FileFacts) => void,
  ): Promise<FileBytes> {
    const range: Record<string, string> = fromBytes === 0 ? {} : { Range: `bytes=${fromBytes}-` }
    const condition: Record<string, string> = fromBytes === 0 || etag === null ? {} : { 'If-Range': etag }
    const { response, url } = await this.#follow('GET', file, { ...range, ...condition }, signal, (facts, answer) => {
      // Whatever a page says of itself, it says nothing of the file.
      if (answer.ok && !isFileOf(file, answer.headers.get('content-type'))) throw noFile(file, new URL(answer.url))
      if (answer.ok) requireUncompressed(file, answer)
      check(facts)
      return false
    })
    const { body, headers, status } = response
    if (body === null) throw new Interruption(`${url.host} sent an empty answer for ${file.path}`)
    try {
      const strong = headers.get('etag')?.startsWith('W/') === false ? headers.get('etag') : null
      if (status === 200) return { body, fromBytes: 0, totalBytes: lengthOf(headers), etag: strong }
      const { first, total } = contentRange(headers.get('content-range'))
      if (first !== fromBytes) throw new WrongRange(`${url.host} sent another part of ${file.path} than requested`)
      return { body, fromBytes, totalBytes: total, etag: strong }
    } catch (error) {
      await body.cancel().catch(() => {})
      throw error
    }
  }

  async #follow(
    method: 'GET' | 'HEAD',
    file: HubPlace,
    headers: Record<string, string>,
    signal: AbortSignal,
    isEnough: (facts: FileFacts, answer: Response) => boolean,
  ): Promise<Followed> {
    const { endpoint, token, pathOf } = this.#options
    const path = pathOf?.(file) ?? [file.repo, 'resolve', file.revision, file.path].join('/')
    const isPlain = pathOf !== undefined
    let url = new URL(`${endpoint}/${path.split('/').map(encodeURIComponent).join('/')}`)
    let facts: FileFacts = { commit: null, sizeBytes: null, sha256: null, gitSha1: null }
    for (let step = 0; step <= redirectsMax; step++) {
      const atHub = url.origin === new URL(endpoint).origin
      const authorization = atHub && token !== null ? { Authorization: `Bearer ${token}` } : {}
      const response = await this.#fetch(url, method, { ...headers, ...authorization }, signal)
      const isRedirect = redirects.includes(response.status)
      if (!isRedirect && response.status !== 200 && response.status !== 206) {
        throw await refusal(response, { file, url, endpoint, hasToken: token !== null, atHub, isPlain })
      }
      if (atHub) requireCommit(file, response.headers.get('x-repo-commit'))
      facts = factsOf(response, facts, atHub && !isPlain)
      try {
        if (isEnough(facts, response) || !isRedirect) return { response, url, facts }
      } catch (error) {
        await response.body?.cancel()
        throw error
      }
      await response.body?.cancel()
      url = redirectTarget(response.headers.get('location'), url)
    }
    throw new ModelError('hub_refused', `${url.host} redirects ${file.path} more than ${redirectsMax} times.`)
  }

  /** @throws Interruption if there is no answer, or not in time */
  async #fetch(url: URL, method: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const { timer, answerMs, userAgent } = this.#options
    const abort = new AbortController()
    const stop = () => abort.abort(signal.reason)
    const late = new Interruption(`${url.host} did not answer`)
    const cancel = timer.after(answerMs, () => abort.abort(late))
    signal.addEventListener('abort', stop, { once: true })
    try {
      signal.throwIfAborted()
      const response = await fetch(url, {
        method,
        // Sizes and hashes are those of the file itself, not of a compressed copy.
        headers: { 'Accept-Encoding': 'identity', 'User-Agent': userAgent, ...headers },
        redirect: 'manual',
        decompress: false,
        signal: abort.signal,
        timeout: false,
      })
      this.#hasAnswered = true
      return response
    } catch (error) {
      signal.throwIfAborted()
      throw error === late ? late : unreachable(url, error, this.#hasAnswered)
    } finally {
      cancel()
      // The reader of the body observes the signal too.
      signal.removeEventListener('abort', stop)
    }
  }
}

/** The server miscounts, so what has arrived cannot be used. */
export class WrongRange extends Interruption {}

/** Hashes are believed of the hub alone: another host may mean something else by an ETag of the same length. */
function factsOf({ status, headers }: Response, known: FileFacts, atHub: boolean): FileFacts {
  const linked = { etag: headers.get('x-linked-etag'), size: headers.get('x-linked-size') }
  const etag = atHub ? bare(linked.etag ?? (status === 200 ? headers.get('etag') : null)) : ''
  const size = atHub && linked.size !== null ? wholeOrNull(linked.size) : status === 200 ? lengthOf(headers) : null
  return {
    commit: known.commit ?? (atHub ? headers.get('x-repo-commit') : null),
    sizeBytes: known.sizeBytes ?? size,
    sha256: known.sha256 ?? (/^[0-9a-f]{64}$/.test(etag) ? etag : null),
    gitSha1: known.gitSha1 ?? (/^[0-9a-f]{40}$/.test(etag) ? etag : null),
  }
}

const bare = (etag: string | null): string =>
  (etag ?? '')
    .replace(/^W\//, '')
    .replace(/^"(.*)"$/, '$1')
    .toLowerCase()

const wholeOrNull = (text: string | null): number | null => {
  const value = Number(text ?? '')
  return text !== null && /^\d+$/.test(text) && Number.isSafeInteger(value) ? value : null
}

const lengthOf = (headers: Headers): number | null =>
  headers.get('content-encoding') === null ? wholeOrNull(headers.get('content-length')) : null

/** A branch is not a commit: it moves. */
export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision)

function requireCommit({ repo, revision }: HubPlace, commit: string | null): void {
  if (commit === null || commit === revision || !isCommit(revision)) return
  const message = `The hub answered for ${repo} with commit ${commit}; the model's card expects ${revision}.`
  throw new ModelError('other_content', message)
}

/** @throws ModelError when it leads nowhere, or from an encrypted place to one that is not */
function redirectTarget(location: string | null, from: URL): URL {
  const to = location === null ? null : URL.parse(location, from.href)
  if (to !== null && (to.protocol === 'https:' || (to.protocol === 'http:' && from.protocol === 'http:'))) return to
  throw new ModelError('hub_refused', `${from.host} redirects to ${JSON.stringify(location)}, which is not followed.`)
}

/** No model consists of web pages: one that comes is a proxy's or a login's. */
const isFileOf = ({ path }: HubPlace, contentType: string | null): boolean =>
  !/^text\/html\b/i.test(contentType ?? '') || /\.html?$/i.test(path)

const noFile = ({ path }: HubPlace, { host }: URL): ModelError =>
  new ModelError(
    'no_file_came',
    `${host} answered with a web page instead of ${path}. Is there a proxy or a login page between here and the hub?`,
  )

/** It was asked for as it is: what is compressed on the way has other bytes, and no place to resume from. */
function requireUncompressed({ path }: HubPlace, { headers, url }: Response): void {
  const encoding = headers.get('content-encoding') ?? ''
  if (!/^(x-)?(gzip|compress|deflate|br|zstd)$/i.test(encoding)) return
  throw new ModelError(
    'no_file_came',
    `${new URL(url).host} sent ${path} compressed (${encoding}), which was not asked for. Is there a proxy between ` +
      'here and the hub that compresses what it passes on?',
  )
}

function contentRange(header: string | null): { first: number | null; total: number | null } {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(header ?? '')
  return { first: wholeOrNull(match?.[1] ?? null), total: wholeOrNull(match?.[2] ?? null) }
}

const certificates = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS/

/** No connection began. */
const unconnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)$/

function unreachable(url: URL, cause: unknown, hasAnswered: boolean): Error {
  const { code = '', message } = cause as { code?: string; message: string }
  if (certificates.test(code)) {
    const words = `The certificate of ${url.host} is not trusted here (${code}). Behind a proxy that decrypts`
    return new ModelError('no_hub', `${words} connections, name its certificate in NODE_EXTRA_CA_CERTS.`, { cause })
  }
  const why = code === '' ? message : code
  const isNever = !hasAnswered && unconnected.test(code)
  return new (isNever ? NeverReached : Interruption)(`${url.host} cannot be reached (${why})`, null, { cause })
}

// What the hub means when it refuses a file, in words for the user: what to accept and where, what does not exist, what
// may work later. `X-Error-Code` distinguishes refusals; the status alone does not (401 is used for gated, private and
// missing alike, with and without a token).
interface RefusedRequest {
  file: HubPlace
  /** The host that refused. */
  url: URL
  endpoint: string
  hasToken: boolean
  /** The hub itself, and not a host to which it redirected. */
  atHub: boolean
  /** A host that is not a hub but has files. */
  isPlain: boolean
}

const wordsMax = 300

/** @returns Interruption where another try may go better, else ModelError */
async function refusal(response: Response, asked: RefusedRequest): Promise<Error> {
  const { status, headers } = response
  const words = await wordsOf(response)
  const { file, url, atHub } = asked
  if ([408, 425, 429].includes(status) || status >= 500) {
    const what = status === 429 ? 'asks to wait' : 'has a problem'
    return new Interruption(`${url.host} ${what} (${status})`, pauseAskedMs(headers))
  }
  // Beyond what is there: what was kept cannot be the beginning of this file.
  if (status === 416) return new OutOfRange(`${url.host} has fewer bytes of ${file.path} than exist here`)
  // The address that the hub gave is good for some time only; the next try gets another.
  if (!atHub) return new Interruption(`${url.host} refused ${file.path} (${status})`)
  if (asked.isPlain) {
    const code = status === 404 || status === 410 ? 'not_on_hub' : 'hub_refused'
    return new ModelError(code, `${url.host} does not serve ${file.path} (${status}). Is the mirror complete?`)
  }
  return explained(status, headers.get('x-error-code'), words, asked)
}

/** The file here is longer than the one there. */
export class OutOfRange extends Interruption {}

function explained(status: number, code: string | null, words: string, asked: RefusedRequest): ModelError {
  const { file, endpoint, hasToken } = asked
  const page = `${endpoint}/${file.repo}`
  const said = words === '' ? '' : ` The hub says: ${words}`
  const error = (kind: ModelErrorCode, message: string) => new ModelError(kind, message + said)
  if (code === 'GatedRepo') return error('gated', gated(page, hasToken))
  if (code === 'RevisionNotFound')
    return error('not_on_hub', `Revision ${file.revision} does not exist in ${page} (any more).`)
  if (code === 'EntryNotFound') {
    return error('not_on_hub', `There is no file ${file.path} in ${page} at revision ${file.revision}.`)
  }
  if (/invalid credentials/i.test(words)) {
    return error('hub_refused', 'The hub does not accept the token in HF_TOKEN: it is misspelt or no longer valid.')
  }
  if (code === 'RepoNotFound' || status === 401 || status === 404) {
    const hint = hasToken
      ? 'or the account of HF_TOKEN has no access to it'
      : 'or it is private: set HF_TOKEN to a token'
    return error('not_on_hub', `There is no repository ${page}, ${hint}.`)
  }
  return error('hub_refused', `The hub refuses ${file.path} of ${page} (${status}).`)
}

const gated = (page: string, hasToken: boolean): string =>
  hasToken
    ? `${page} requires accepting its conditions, and the account of HF_TOKEN has not done so, or its request is ` +
      'pending. Open the page, log in as that account, and accept them.'
    : `${page} requires accepting its conditions. Open the page, log in and accept them; create a token with read ` +
      `access at ${new URL(page).origin}/settings/tokens; then run this command again with HF_TOKEN=hf_... before ` +
      'it.'

/** In one line; a web page says nothing useful here. */
async function wordsOf(response: Response): Promise<string> {
  const header = response.headers.get('x-error-message')
  const text = header ?? (await textOf(response))
  const line = text.replace(/\p{Cc}+/gu, ' ').trim()
  return line.length > wordsMax ? `${line.slice(0, wordsMax)}...` : line
}

async function textOf(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  const isLong = Number(response.headers.get('content-length') ?? 0) > 65_536
  if (!/^(text\/plain|application\/json)\b/i.test(type) || isLong) {
    await response.body?.cancel()
    return ''
  }
  const text = await response.text().catch(() => '')
  try {
    const { error } = JSON.parse(text) as { error?: unknown }
    return typeof error === 'string' ? error : ''
  } catch {
    return text
  }
}

/**
 * `Retry-After` in seconds or as a date (by the server's own clock), otherwise the hub's `RateLimit:
 * "resolvers";r=0;t=55` (t: seconds until more is allowed). null: no wait is requested.
 */
export function pauseAskedMs(headers: Headers): number | null {
  const after = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(after)) return 1000 * Number(after)
  const untilMs = Date.parse(after) - Date.parse(headers.get('date') ?? '')
  if (Number.isFinite(untilMs)) return Math.max(0, untilMs)
  const reset = /;\s*r=0\s*;\s*t=(\d+)/.exec(headers.get('ratelimit') ?? '')
  return reset === null ? null : 1000 * Number(reset[1])
}
