/**
 * The table of contents of the API: which routes exist, and how unknown paths and methods are answered. The parts
 * behind the routes are chosen in `cli/serve`.
 */
import { Elysia } from 'elysia'
import { MynaError } from '../domain/error.ts'
import { type AdminParts, adminRoutes } from './admin.ts'
import { accountRoutes } from './account.ts'
import { captionedSpeechRoutes } from './speech/captioned.ts'
import { consentsRoutes, type ConsentsParts } from './voices/consents.ts'
import { type ConsoleAdminParts, consoleAdminRoutes } from './console/admin.ts'
import { type ConsoleConnectParts, consoleConnectRoutes } from './console/connect.ts'
import { type ConsoleModelsParts, consoleModelsRoutes } from './console/models.ts'
import { type ConsolePageParts, consolePageRoutes } from './console/page.ts'
import { type ConsoleRecordsParts, consoleRecordsRoutes } from './console/records.ts'
import { type ConsoleServerParts, consoleServerRoutes } from './console/server.ts'
import { type ConsoleSessionParts, consoleSessionRoutes } from './console/session.ts'
import { preflight } from './cors.ts'
import { choosing, theirsAlone } from './elevenlabs/choice.ts'
import { ownEndpoints, sharedEndpoints } from './elevenlabs/endpoints.ts'
import type { UserParts } from './elevenlabs/user.ts'
import { type Action, type ExchangeParts, type Route, routeWith } from './exchange.ts'
import { type HealthParts, healthRoutes } from './health.ts'
import { type ModelsParts, modelsRoutes } from './models.ts'
import { type DocsParts, docsRoutes } from './openapi/docs.ts'
import { type OperationsParts, operationsRoutes } from './operations/operations.ts'
import { realtimeRoutes, type RealtimeRoutesParts, socketLimits } from './realtime.ts'
import { type SpeechParts, speechRoutes } from './speech/speech.ts'
import { type TranscriptionsParts, transcriptionsRoutes } from './transcription/transcriptions.ts'
import { audioVoicesRoutes } from './voices/audio-voices.ts'
import { type VoiceCloneParts, voiceCloneRoutes } from './voices/clone.ts'
import { type VoicePreviewParts, voicePreviewRoutes } from './voices/preview.ts'
import { type VoicesParts, voicesRoutes } from './voices/voices.ts'

export interface AppParts {
  exchange: ExchangeParts
  speech: SpeechParts
  transcriptions: TranscriptionsParts
  realtime: RealtimeRoutesParts
  operations: OperationsParts
  voices: VoicesParts & VoiceCloneParts & VoicePreviewParts & ConsentsParts
  models: ModelsParts
  account: UserParts
  admin: AdminParts
  health: HealthParts
  docs: DocsParts
  console: ConsoleParts
  /** Whether it listens with TLS. */
  isTls: boolean
}

/** Bun would answer 413 by itself, without our envelope, so its limit is set out of reach and our own limits apply. */
const bodyBytesOutOfReach = 1e12

export function createApp(parts: AppParts) {
  const theirs = ownEndpoints(parts)
  const route = choosing(routeWith(parts.exchange), [...sharedEndpoints(parts), ...theirs])
  const bare = new Elysia({
    // Elysia shares ports by default: a second server on the same port would silently get half of the requests.
    serve: { idleTimeout: parts.exchange.idleConnectionS, maxRequestBodySize: bodyBytesOutOfReach, reusePort: false },
    websocket: socketLimits,
  })
  // Where Elysia begins to look for the path: after `https://nas`, or after `http:/`, because `http://nas` is shorter.
  bare.config.handler = { standardHostname: parts.isTls }
  const app = bare
    .use(speechRoutes(route, parts.speech))
    .use(captionedSpeechRoutes(route, parts.speech))
    .use(transcriptionsRoutes(route, parts.transcriptions))
    .use(realtimeRoutes(route, parts.realtime))
    .use(operationsRoutes(route, parts.operations))
    .use(voicesRoutes(route, parts.voices))
    .use(voiceCloneRoutes(route, parts.voices))
    .use(audioVoicesRoutes(route, parts.voices))
    .use(consentsRoutes(route, parts.voices))
    .use(voicePreviewRoutes(route, parts.voices))
    .use(modelsRoutes(route, parts.models))
    .use(accountRoutes(route, parts.account))
    .use(theirsAlone(route, theirs))
    .use(adminRoutes(route, parts.admin))
    .use(healthRoutes(route, parts.health))
    .use(consoleRoutes(route, parts.console))
  app.use(docsRoutes(route, parts.docs, app.routes))
  const known = knownPaths(app.routes)
  const elsewhere = route('other', refuse(known))
  return app
    .options('/*', route('preflight', preflightFor(parts.exchange, known)), { detail: { hide: true } })
    .all('/*', elsewhere, { parse: 'none', detail: { hide: true } })
}

interface KnownPath {
  pattern: RegExp
  methods: Set<string>
}

function knownPaths(routes: readonly { method: string; path: string }[]): KnownPath[] {
  const byPath = Map.groupBy(routes, (entry) => entry.path)
  return [...byPath].map(([path, entries]) => {
    const methods = new Set(entries.map((entry) => entry.method).filter((method) => method !== 'WS'))
    if (methods.has('GET')) methods.add('HEAD')
    const escaped = path.replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    const end = path === '/' ? '' : '/?'
    const pattern = new RegExp(`^${escaped.replace(/:[a-z_]+/g, '[^/]+').replace(/\*$/, '.+')}${end}$`)
    return { pattern, methods }
  })
}

const methodsOf = (known: readonly KnownPath[], path: string): Set<string> =>
  new Set(known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]))

const refuse =
  (known: readonly KnownPath[]): Action =>
  ({ request, url, isElevenLabs }) => {
    const methods = methodsOf(known, url.pathname)
    if (methods.size > 0) {
      const allow = [...methods, 'OPTIONS'].join(', ')
      throw new MynaError('method_not_allowed', `${request.method} is not allowed here. Allowed: ${allow}.`, {
        extras: { allow },
      })
    }
    const path = url.pathname.slice(0, 200)
    const hint = isElevenLabs ? doubled(url.pathname) : unversioned(known, url.pathname)
    throw new MynaError('unknown_url', `Invalid URL (${request.method} ${path}).${hint}`)
  }

const unversioned = (known: readonly KnownPath[], path: string): string =>
  methodsOf(known, `/v1${path}`).size > 0 ? ' The base URL of a client must end with /v1.' : ''

/** ElevenLabs' clients add the version themselves. */
const doubled = (path: string): string =>
  /^\/v1\/v\d\//.test(path) ? ' The base URL of an ElevenLabs client must not end with /v1.' : ''

/** Routes that any page may call, because they return only public data. */
const publicPath = /^\/v1\/(audio\/(voices|models)|voices\/[^/]+\/preview(\.\w+)?)\/?$/

const preflightFor =
  ({ cors }: ExchangeParts, known: readonly KnownPath[]): Action =>
  ({ request, url, headers }) => {
    const methods = methodsOf(known, url.pathname)
    if (methods.size > 0) headers.set('allow', [...methods, 'OPTIONS'].join(', '))
    return preflight(request, cors, headers, publicPath.test(url.pathname))
  }

// The console's own routes, beside the versioned ones and not part of the contract: the page and this program come in
// one file and change together. A key in a header opens them as well as a session, so that scripts may look, too.
type ConsoleParts = ConsolePageParts &
  ConsoleSessionParts &
  ConsoleRecordsParts &
  ConsoleAdminParts &
  ConsoleConnectParts &
  ConsoleModelsParts &
  ConsoleServerParts

const consoleRoutes = (route: Route, parts: ConsoleParts) =>
  new Elysia()
    .use(consolePageRoutes(route, parts))
    .use(consoleSessionRoutes(route, parts))
    .use(consoleRecordsRoutes(route, parts))
    .use(consoleAdminRoutes(route, parts))
    .use(consoleConnectRoutes(route, parts))
    .use(consoleModelsRoutes(route, parts))
    .use(consoleServerRoutes(route, parts))
