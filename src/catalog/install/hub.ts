/**
 * The Hugging Face hub, or whatever stands at HF_ENDPOINT in its place, as far as a download needs it: what a file is
 * (`HEAD .../resolve/...`), and its bytes from any position on. The hub answers for a large file with a redirect to
 * another host and says on the way what the file is (`X-Linked-Size`, `X-Linked-ETag`: its SHA-256); a small one has
 * the id that git gives it as its ETag. Redirects are followed here, because the token is for the hub alone.
 */
import type { Timer } from '../../domain/time.ts'
import { refusal } from './hub-refusals.ts'
import { Interruption, ModelError } from '../model-error.ts'

/** Where the hub is unless somebody says otherwise. */
export const publicHub = 'https://huggingface.co'

export interface HubOptions {
  /** Without a slash at its end. */
  endpoint: string
  /** Of the user's account there; null: none. */
  token: string | null
  timer: Timer
  /** Longest wait for the head of an answer. */
  answerMs: number
  /** As the hub sees us. */
  userAgent: string
  /** For a host that is no such hub, but merely has files: the path of one below the endpoint. */
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

/** What the hub says of a file; null: it does not say. */
export interface FileFacts {
  /** Which the branch stands at. */
  commit: string | null
  sizeBytes: number | null
  sha256: string | null
  gitSha1: string | null
}

/** Bytes of a file as they come. */
export interface FileBytes {
  body: ReadableStream<Uint8Array>
  /** Of the file, where `body` begins. */
  fromBytes: number
  /** null: the other side does not say. */
  totalBytes: number | null
  /** Of exactly these bytes, whoever sends them; null: none that could be relied upon. */
  etag: string | null
}

interface Followed {
  response: Response
  /** Where the last redirect led. */
  url: URL
  facts: FileFacts
}

const redirectsMax = 10
const redirects = [301, 302, 303, 307, 308]

export class Hub {
  readonly #options: HubOptions

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
      check(facts)
      return false
    })
    const { body, headers, status } = response
    if (body === null) throw new Interruption(`${url.host} sent an empty answer for ${file.path}`)
    try {
      const strong = headers.get('etag')?.startsWith('W/') === false ? headers.get('etag') : null
      if (status === 200) return { body, fromBytes: 0, totalBytes: lengthOf(headers), etag: strong }
      const { first, total } = contentRange(headers.get('content-range'))
      if (first !== fromBytes) throw new WrongRange(`${url.host} sent another part of ${file.path} than asked for`)
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

  /** @throws Interruption when nobody answers, or not in time */
  async #fetch(url: URL, method: string, headers: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const { timer, answerMs, userAgent } = this.#options
    const abort = new AbortController()
    const stop = () => abort.abort(signal.reason)
    const late = new Interruption(`${url.host} does not answer`)
    const cancel = timer.after(answerMs, () => abort.abort(late))
    signal.addEventListener('abort', stop, { once: true })
    try {
      signal.throwIfAborted()
      return await fetch(url, {
        method,
        // Sizes and hashes are those of the file itself, not of a compressed copy.
        headers: { 'Accept-Encoding': 'identity', 'User-Agent': userAgent, ...headers },
        redirect: 'manual',
        decompress: false,
        signal: abort.signal,
        timeout: false,
      })
    } catch (error) {
      signal.throwIfAborted()
      throw error === late ? late : unreachable(url, error)
    } finally {
      cancel()
      // The body is read under the signal's eyes, too, by whoever reads it.
      signal.removeEventListener('abort', stop)
    }
  }
}

/** A server that cannot count: what has come is of no use to it. */
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

/** A branch is none: it moves on. */
export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision)

function requireCommit({ repo, revision }: HubPlace, commit: string | null): void {
  if (commit === null || commit === revision || !isCommit(revision)) return
  const message = `The hub answers for ${repo} with commit ${commit}, and the model's card means ${revision}.`
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

function contentRange(header: string | null): { first: number | null; total: number | null } {
  const match = /^bytes (\d+)-\d+\/(\d+|\*)$/i.exec(header ?? '')
  return { first: wholeOrNull(match?.[1] ?? null), total: wholeOrNull(match?.[2] ?? null) }
}

const certificates = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|ERR_TLS/

function unreachable(url: URL, cause: unknown): Error {
  const { code = '', message } = cause as { code?: string; message: string }
  if (certificates.test(code)) {
    const words = `The certificate of ${url.host} is not trusted here (${code}). Behind a proxy that opens encrypted`
    return new ModelError('no_hub', `${words} connections, name its certificate in NODE_EXTRA_CA_CERTS.`, { cause })
  }
  const why = code === '' ? message : code
  return new Interruption(`${url.host} cannot be reached (${why})`, null, { cause })
}
