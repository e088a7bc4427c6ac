/**
 * The console's page. It loads nothing from other hosts and runs no inline script; its policy enforces both. Scripts
 * and style have addresses that change with their content.
 */
import { endpoints } from '../endpoint.ts'
import type { Exchange, Route } from '../exchange.ts'
import { json } from '../exchange.ts'
import { rootDetail } from '../openapi/routes.ts'
import { asset, fresh, kept, once } from '../assets.ts'

export interface ConsolePageParts {
  version: string
  webFiles: () => Promise<{ script: string; style: string; recorder: string }>
}

export function consolePageRoutes(route: Route, { version, webFiles }: ConsolePageParts) {
  const files = once(webFiles)
  const script = once(async () => asset('text/javascript; charset=utf-8', new Blob([(await files()).script])))
  const recorder = once(async () => asset('text/javascript; charset=utf-8', new Blob([(await files()).recorder])))
  const style = once(async () => asset('text/css; charset=utf-8', new Blob([(await files()).style])))
  const page = once(async () => {
    const html = pageOf((await style()).digest, (await script()).digest, (await recorder()).digest)
    return asset('text/html; charset=utf-8', new Blob([html]))
  })
  const [isolated, plain] = [fresh(page, { ...pageHeaders, ...isolation }), fresh(page, pageHeaders)]
  const show = (exchange: Exchange) => (isTrusted(new URL(exchange.origin)) ? isolated : plain)(exchange)
  const root = (exchange: Exchange) => {
    exchange.headers.set('vary', 'Accept')
    return wantsPage(exchange) ? redirect('/console') : json({ name: 'myna', version, api_version: 'v1' })
  }
  return endpoints(route, [
    ['GET /', rootDetail, root],
    ['GET /console', null, show],
    ['GET /console/app.js', null, kept(script)],
    ['GET /console/recorder.js', null, kept(recorder)],
    ['GET /console/app.css', null, kept(style)],
  ])
}

/** A browser's address bar asks for HTML by name; clients of the API do not. */
const wantsPage = ({ request }: Exchange): boolean => (request.headers.get('accept') ?? '').includes('text/html')

const redirect = (location: string): Response => new Response(null, { status: 302, headers: { location } })

const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'permissions-policy': 'microphone=(self)',
  'referrer-policy': 'no-referrer',
}

const isolation = { 'cross-origin-opener-policy': 'same-origin' }

/** Elsewhere browsers ignore the isolation, and say so as an error in their console. */
const isTrusted = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)

/** Addressed by digest. The script learns from the page where its audio thread's script is. */
const pageOf = (style: string, script: string, recorder: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Myna</title>
    <link rel="icon" href="data:image/svg+xml,${icon}">
    <link rel="stylesheet" href="/console/app.css?v=${style}">
    <script src="/console/app.js?v=${script}" type="module"></script>
  </head>
  <body>
    <div id="app" data-recorder="/console/recorder.js?v=${recorder}"></div>
    <noscript>The console needs JavaScript. The API does not: its document is at <a href="/docs">/docs</a>.</noscript>
  </body>
</html>
`

/** Three bars of sound. */
const icon = encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#e8a33d"/>' +
    '<path d="M4.5 6v4M8 3.5v9M11.5 5.5v5" stroke="#1b1812" stroke-width="1.8" stroke-linecap="round"/></svg>',
)
