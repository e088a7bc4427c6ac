/**
 * The console's page. It loads nothing from other hosts and runs no inline script; its policy enforces both. Scripts
 * and style have addresses that change with their content.
 */
import { endpoints } from '../endpoint.ts'
import { type Exchange, json, type Route } from '../exchange.ts'
import { rootDetail } from '../openapi/routes.ts'
import { serviceRecord } from '../readiness-record.ts'
import { asset, fresh, kept, once } from '../assets.ts'
import { appIconPng, iconSvg, manifest } from './icons.ts'

export interface ConsolePageParts {
  version: string
  webFiles: () => Promise<{ script: string; style: string; recorder: string; plot: string }>
}

export function consolePageRoutes(route: Route, { version, webFiles }: ConsolePageParts) {
  const files = once(webFiles)
  const code = (name: 'script' | 'recorder' | 'plot') =>
    once(async () => asset('text/javascript; charset=utf-8', new Blob([(await files())[name]])))
  const [script, recorder, plot] = [code('script'), code('recorder'), code('plot')]
  const style = once(async () => asset('text/css; charset=utf-8', new Blob([(await files()).style])))
  const page = once(async () => {
    const [ofStyle, ofScript, ofRecorder, ofPlot] = await Promise.all([style(), script(), recorder(), plot()])
    const html = pageOf(ofStyle.digest, ofScript.digest, ofRecorder.digest, ofPlot.digest)
    return asset('text/html; charset=utf-8', new Blob([html]))
  })
  const manifestFile = once(() => asset('application/manifest+json', new Blob([JSON.stringify(manifest)])))
  const icon = once(() => asset('image/svg+xml', new Blob([iconSvg])))
  const appIcon = (sidePx: number) => once(async () => asset('image/png', await appIconPng(sidePx)))
  const appIcons = [appIcon(192), appIcon(512)] as const
  const [isolated, plain] = [fresh(page, { ...pageHeaders, ...isolation }), fresh(page, pageHeaders)]
  const show = (exchange: Exchange) => (isTrusted(new URL(exchange.origin)) ? isolated : plain)(exchange)
  const root = (exchange: Exchange) => {
    exchange.headers.set('vary', 'Accept')
    return wantsPage(exchange) ? redirect('/console') : json(serviceRecord.of({ version }))
  }
  return endpoints(route, [
    ['GET /', rootDetail, root],
    ['GET /console', null, show],
    ['GET /console/app.js', null, kept(script)],
    ['GET /console/recorder.js', null, kept(recorder)],
    ['GET /console/plot.js', null, kept(plot)],
    ['GET /console/app.css', null, kept(style)],
    ['GET /console/manifest.webmanifest', null, fresh(manifestFile)],
    ['GET /console/icon.svg', null, fresh(icon)],
    ['GET /console/icon-192.png', null, fresh(appIcons[0])],
    ['GET /console/icon-512.png', null, fresh(appIcons[1])],
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
    "manifest-src 'self'",
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

/**
 * Addressed by digest. Nothing is painted before the script has run, because only the script knows which theme this
 * browser's user chose. The script learns from the page where the two are that are fetched later.
 */
const pageOf = (style: string, script: string, recorder: string, plot: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Myna</title>
    <meta name="theme-color" content="#0e0b0a" media="(prefers-color-scheme: dark)">
    <meta name="theme-color" content="#faf7f4" media="(prefers-color-scheme: light)">
    <link rel="icon" href="/console/icon.svg" type="image/svg+xml">
    <link rel="apple-touch-icon" href="/console/icon-192.png">
    <link rel="manifest" href="/console/manifest.webmanifest">
    <link rel="stylesheet" href="/console/app.css?v=${style}">
    <script src="/console/app.js?v=${script}" type="module" blocking="render"></script>
  </head>
  <body>
    <div id="app" data-recorder="/console/recorder.js?v=${recorder}" data-plot="/console/plot.js?v=${plot}"></div>
    <noscript>The console needs JavaScript. The API does not: its document is at <a href="/docs">/docs</a>.</noscript>
  </body>
</html>
`
