/**
 * A server that behaves like the Hugging Face hub in everything that a download meets (recorded answers of September
 * 2026). For a large file it sends a redirect to another origin and the facts about the file (`X-Linked-Size`,
 * `X-Linked-ETag`, `X-Repo-Commit`). For a small file it sends a relative redirect, and then the git id as ETag. It
 * supports ranges, gates and refusals, and it can be made to fail in the ways of real networks. Two origins on two
 * ports of the loopback interface.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CardFile } from '../domain/card.ts'
import { Digest } from '../catalog/install/digest.ts'
import { Seeded } from './seeded.ts'

export interface HubFile {
  repo: string
  revision: string
  path: string
  content: Uint8Array
  /** Large: stored outside git. */
  isLarge: boolean
}

export interface HubRequest {
  at: 'hub' | 'cdn'
  method: string
  /** Without the query. */
  path: string
  headers: IncomingMessage['headers']
  /** null: from the beginning. */
  fromByte: number | null
  status: number
  sentBytes: number
  /** Whether all announced bytes were sent. */
  isDone: boolean
}

/** How one answer goes wrong. */
export type Trouble =
  /** Sent instead of the answer. */
  | { kind: 'refuse'; status: number; headers?: Record<string, string>; body?: string }
  /**
   * The connection breaks after this many bytes of the body, once `arrived` resolves. Bytes that a reader has not taken
   * yet are lost with the connection.
   */
  | { kind: 'cut'; afterBytes: number; arrived?: () => Promise<unknown> }
  /** No bytes follow after this many, but the connection stays open. */
  | { kind: 'silent'; afterBytes: number }
  | { kind: 'corrupt' }
  /** `Range` is ignored. */
  | { kind: 'whole' }
  /** Another range is sent than the requested one. */
  | { kind: 'shifted' }
  /** A captive network's login page. */
  | { kind: 'page' }
  /** The body continues beyond the file, without a length. */
  | { kind: 'endless' }
  /** Neither a length nor an ETag. */
  | { kind: 'nameless' }

const sliceBytes = 16_384

export class TestHub {
  readonly requests: HubRequest[] = []
  readonly #files: HubFile[] = []
  readonly #gated = new Map<string, string>()
  readonly #renamed = new Map<string, string>()
  /** The commit of every repository. */
  readonly #branches = new Map<string, string>()
  readonly #hub: Server
  readonly #cdn: Server
  /** Called before each answer; null: the answer is good. */
  trouble: (request: HubRequest) => Trouble | null = () => null
  /** Called whenever some bytes of a file have been sent. */
  onSent: () => void = () => {}
  /** False facts that the hub reports about a file. */
  claims: (file: HubFile) => { sizeBytes?: number; sha256?: string } = () => ({})

  private constructor() {
    this.#hub = createServer((request, response) => this.#answer('hub', request, response))
    this.#cdn = createServer((request, response) => this.#answer('cdn', request, response))
  }

  static async start(): Promise<TestHub> {
    const hub = new TestHub()
    await Promise.all(
      [hub.#hub, hub.#cdn].map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))),
    )
    return hub
  }

  /** The value for HF_ENDPOINT. */
  get url(): string {
    return urlOf(this.#hub)
  }

  get cdnUrl(): string {
    return urlOf(this.#cdn)
  }

  /** @returns the file as a card names it, without the card's facts about its content */
  add(file: HubFile): CardFile {
    this.#files.push(file)
    const { repo, revision, path } = file
    return { name: path, repo, revision, path, sizeBytes: null, sha256: null }
  }

  /** Restricts the files of the repository to this token. */
  gate(repo: string, token: string): void {
    this.#gated.set(repo, token)
  }

  /** Redirects requests for the old repository to the new one. */
  rename(from: string, to: string): void {
    this.#renamed.set(from, to)
  }

  /** Moves the branch of every repository to this commit. */
  branch(name: string, commit: string): void {
    this.#branches.set(name, commit)
  }

  /** Bytes of files that were sent, from both origins. */
  get sentBytes(): number {
    return this.requests.reduce((sum, { sentBytes }) => sum + sentBytes, 0)
  }

  /** The requests that were answered with bytes of the file. */
  reads({ repo, path }: { repo: string; path: string } = { repo: '', path: '' }): HubRequest[] {
    const file = this.#files.find((one) => one.repo === repo && one.path === path)
    if (file === undefined) throw new Error(`there is no ${path} in ${repo}`)
    const ends = file.isLarge ? sha256Of(file.content) : `/${repo}/${file.revision}/${path}`
    return this.requests.filter(
      ({ method, status, path: asked }) =>
        method === 'GET' && (status === 200 || status === 206) && asked.endsWith(ends),
    )
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#cdn]) {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }

  #answer(at: 'hub' | 'cdn', asked: IncomingMessage, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(asked.url ?? '/', 'http://x').pathname)
    const fromByte = /^bytes=(\d+)-$/.exec(asked.headers.range ?? '')?.[1]
    const request: HubRequest = {
      at,
      method: asked.method ?? '',
      path,
      headers: asked.headers,
      fromByte: fromByte === undefined ? null : Number(fromByte),
      status: 0,
      sentBytes: 0,
      isDone: false,
    }
    this.requests.push(request)
    response.on('error', () => {})
    const trouble = this.trouble(request)
    if (trouble?.kind === 'refuse') return refuse(request, response, trouble.status, trouble.headers, trouble.body)
    if (trouble?.kind === 'page') {
      return refuse(request, response, 200, { 'content-type': 'text/html; charset=utf-8' }, '<html>Log in</html>')
    }
    if (at === 'cdn') return this.#answerCdn(request, response, trouble)
    if (path.startsWith('/api/resolve-cache/models/')) return this.#answerCache(request, response, trouble)
    this.#resolve(request, response)
  }

  /** `/<owner>/<name>/resolve/<revision>/<path>`. */
  #resolve(request: HubRequest, response: ServerResponse): void {
    const [, repo = '', asked = '', path = ''] = /^\/([^/]+\/[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(request.path) ?? []
    const to = this.#renamed.get(repo)
    if (to !== undefined) {
      return refuse(request, response, 307, { location: `/${to}/resolve/${asked}/${path}` }, 'Temporary Redirect')
    }
    const said = (code: string, words: string) => ({ 'x-error-code': code, 'x-error-message': words })
    const { authorization } = request.headers
    const token = this.#gated.get(repo)
    if (token !== undefined && authorization !== `Bearer ${token}`) {
      const words = `Access to model ${repo} is restricted${authorization === undefined ? '. Please log in.' : '.'}`
      return refuse(request, response, authorization === undefined ? 401 : 403, said('GatedRepo', words))
    }
    const inRepo = this.#files.filter((file) => file.repo === repo)
    if (inRepo.length === 0) {
      if (authorization !== undefined)
        return refuse(request, response, 404, said('RepoNotFound', 'Repository not found'))
      return refuse(request, response, 401, { 'x-error-message': 'Invalid username or password.' })
    }
    const revision = this.#branches.get(asked) ?? asked
    const inCommit = inRepo.filter((file) => file.revision === revision)
    if (inCommit.length === 0) return refuse(request, response, 404, said('RevisionNotFound', 'Invalid rev id'))
    const file = inCommit.find((one) => one.path === path)
    if (file === undefined) return refuse(request, response, 404, said('EntryNotFound', 'Entry not found'))
    const sha256 = sha256Of(file.content)
    const claim = { sizeBytes: file.content.length, sha256, ...this.claims(file) }
    const linked = { 'x-linked-size': String(claim.sizeBytes), 'x-linked-etag': `"${claim.sha256}"` }
    const known = { 'x-repo-commit': revision, 'accept-ranges': 'bytes', 'content-type': 'text/plain; charset=utf-8' }
    const location = file.isLarge
      ? `${this.cdnUrl}/xet-bridge-us/${sha256}?Expires=1800000000&Signature=abc`
      : `/api/resolve-cache/models/${repo}/${revision}/${path}?etag=%22${gitIdOf(file.content)}%22`
    const headers = { ...known, ...(file.isLarge ? linked : {}), location }
    return refuse(request, response, file.isLarge ? 302 : 307, headers, `Found. Redirecting to ${location}`)
  }

  #answerCache(request: HubRequest, response: ServerResponse, trouble: Trouble | null): void {
    const [repo, revision, path] = /^\/api\/resolve-cache\/models\/([^/]+\/[^/]+)\/([^/]+)\/(.+)$/
      .exec(request.path)
      ?.slice(1) ?? ['', '', '']
    const file = this.#files.find((one) => one.repo === repo && one.revision === revision && one.path === path)
    if (file === undefined) return refuse(request, response, 404)
    const headers = { etag: `"${gitIdOf(file.content)}"`, 'x-repo-commit': revision ?? '' }
    void send(request, response, file, headers, trouble, () => this.onSent())
  }

  /** Its ETag is as long as a SHA-256 without being one, like the real hub's. */
  #answerCdn(request: HubRequest, response: ServerResponse, trouble: Trouble | null): void {
    const file = this.#files.find((one) => request.path.endsWith(sha256Of(one.content)))
    if (file === undefined) return refuse(request, response, 403, { 'content-type': 'application/xml' }, '<Error/>')
    const etag = `"${sha256Of(new TextEncoder().encode(sha256Of(file.content)))}"`
    void send(request, response, file, { etag }, trouble, () => this.onSent())
  }
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

function refuse(
  request: HubRequest,
  response: ServerResponse,
  status: number,
  headers: Record<string, string> = {},
  body = headers['x-error-message'] ?? '',
): void {
  request.status = status
  request.isDone = true
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers })
  response.end(request.method === 'HEAD' ? undefined : body)
}

async function send(
  request: HubRequest,
  response: ServerResponse,
  { content }: HubFile,
  headers: Record<string, string>,
  trouble: Trouble | null,
  onSent: () => void,
): Promise<void> {
  const { kind = 'none' } = trouble ?? {}
  const ifRange = request.headers['if-range']
  const isStale = ifRange !== undefined && ifRange !== headers.etag
  const asked = kind === 'whole' || isStale ? null : request.fromByte
  if (asked !== null && asked >= content.length) {
    return refuse(request, response, 416, { 'content-range': `bytes */${content.length}` })
  }
  const from = asked === null ? 0 : kind === 'shifted' ? asked - 1 : asked
  const isNameless = kind === 'endless' || kind === 'nameless'
  const length: Record<string, string> = isNameless ? {} : { 'content-length': String(content.length - from) }
  const range: Record<string, string> =
    asked === null ? {} : { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }
  request.status = asked === null ? 200 : 206
  const named = isNameless ? {} : headers
  response.writeHead(request.status, { 'content-type': 'application/octet-stream', ...named, ...length, ...range })
  if (request.method === 'HEAD') return void response.end()
  const until = trouble !== null && 'afterBytes' in trouble ? trouble.afterBytes : Number.POSITIVE_INFINITY
  const body = kind === 'corrupt' ? content.map((byte, at) => (at === content.length - 1 ? byte ^ 1 : byte)) : content
  for (let at = from; at < body.length && !response.destroyed;) {
    const end = Math.min(at + sliceBytes, body.length, from + until)
    if (end > at) await written(response, body.slice(at, end))
    request.sentBytes += end - at
    onSent()
    at = end
    if (trouble?.kind === 'cut' && at - from >= until) {
      await trouble.arrived?.()
      return void response.destroy()
    }
    if (kind === 'silent' && at - from >= until) return
  }
  for (let more = 0; kind === 'endless' && more < 64 && !response.destroyed; more++) {
    await written(response, new Uint8Array(sliceBytes))
  }
  request.isDone = true
  response.end()
}

/** Once the system has taken it: bytes reported as sent have left the process. */
const written = (response: ServerResponse, bytes: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', resolve)
    response.write(bytes, () => {
      response.removeListener('close', resolve)
      resolve()
    })
  })

export const sha256Of = (content: Uint8Array): string => new Bun.CryptoHasher('sha256').update(content).digest('hex')

function gitIdOf(content: Uint8Array): string {
  const digest = new Digest(content.length)
  digest.add(content)
  return digest.content().gitSha1 ?? ''
}

export const randomBytes = (seed: number, sizeBytes: number): Uint8Array =>
  new Seeded(seed).fill(new Uint8Array(sizeBytes))
