/**
 * What the hub means when it refuses a file, in words for whoever pulls: what to accept and where, what does not exist,
 * what may go better later. `X-Error-Code` tells refusals apart; the status alone does not (401 is said of what is
 * gated, private and missing alike, with and without a token).
 */
import type { HubPlace } from './hub.ts'
import { Interruption, ModelError, type ModelErrorCode } from '../model-error.ts'

export interface RefusedRequest {
  file: HubPlace
  /** Who refused. */
  url: URL
  endpoint: string
  hasToken: boolean
  /** The hub itself, and not a host to which it redirected. */
  atHub: boolean
  /** It is no hub, but a host that has files. */
  isPlain: boolean
}

const wordsMax = 300

/** @returns Interruption where another try may go better, else ModelError */
export async function refusal(response: Response, asked: RefusedRequest): Promise<Error> {
  const { status, headers } = response
  const words = await wordsOf(response)
  const { file, url, atHub } = asked
  if ([408, 425, 429].includes(status) || status >= 500) {
    const what = status === 429 ? 'asks for a pause' : 'has trouble of its own'
    return new Interruption(`${url.host} ${what} (${status})`, pauseAskedMs(headers))
  }
  // Beyond what is there: what was kept cannot be the beginning of this file.
  if (status === 416) return new OutOfRange(`${url.host} has fewer bytes of ${file.path} than are here`)
  // The address that the hub gave is good for some time only; the next try gets another.
  if (!atHub) return new Interruption(`${url.host} refused ${file.path} (${status})`)
  if (asked.isPlain) {
    const code = status === 404 || status === 410 ? 'not_on_hub' : 'hub_refused'
    return new ModelError(
      code,
      `${url.host} does not give ${file.path} away (${status}). Is the mirror a complete one?`,
    )
  }
  return explained(status, headers.get('x-error-code'), words, asked)
}

/** What is here is longer than the file there. */
export class OutOfRange extends Interruption {}

function explained(status: number, code: string | null, words: string, asked: RefusedRequest): ModelError {
  const { file, endpoint, hasToken } = asked
  const page = `${endpoint}/${file.repo}`
  const said = words === '' ? '' : ` The hub says: ${words}`
  const error = (kind: ModelErrorCode, message: string) => new ModelError(kind, message + said)
  if (code === 'GatedRepo') return error('gated', gated(page, hasToken))
  if (code === 'RevisionNotFound')
    return error('not_on_hub', `There is no revision ${file.revision} in ${page} (any more).`)
  if (code === 'EntryNotFound') {
    return error('not_on_hub', `There is no file ${file.path} in ${page} at revision ${file.revision}.`)
  }
  if (/invalid credentials/i.test(words)) {
    return error('hub_refused', 'The hub does not know the token in HF_TOKEN: it is mistyped or no longer valid.')
  }
  if (code === 'RepoNotFound' || status === 401 || status === 404) {
    const hint = hasToken ? 'or the account of HF_TOKEN may not see it' : 'or it is private: HF_TOKEN may hold a token'
    return error('not_on_hub', `There is no repository ${page}, ${hint}.`)
  }
  return error('hub_refused', `The hub refuses ${file.path} of ${page} (${status}).`)
}

const gated = (page: string, hasToken: boolean): string =>
  hasToken
    ? `${page} is only for those who have accepted its conditions, and the account of HF_TOKEN has not, or its ` +
      `request waits for an answer. Open the page, log in as that account, and accept them.`
    : `${page} is only for those who have accepted its conditions. Open the page, log in and accept them; make a ` +
      `token that may read at ${new URL(page).origin}/settings/tokens; then run this with HF_TOKEN=hf_... before it.`

/** In one line; a web page says nothing here. */
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
 * `Retry-After` in seconds or as a date (by the other side's own clock), else the hub's `RateLimit:
 * "resolvers";r=0;t=55` (t: seconds until more is allowed). null: nothing is asked for.
 */
export function pauseAskedMs(headers: Headers): number | null {
  const after = headers.get('retry-after') ?? ''
  if (/^\d+$/.test(after)) return 1000 * Number(after)
  const untilMs = Date.parse(after) - Date.parse(headers.get('date') ?? '')
  if (Number.isFinite(untilMs)) return Math.max(0, untilMs)
  const reset = /;\s*r=0\s*;\s*t=(\d+)/.exec(headers.get('ratelimit') ?? '')
  return reset === null ? null : 1000 * Number(reset[1])
}
