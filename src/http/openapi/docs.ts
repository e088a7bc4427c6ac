/**
 * The API's document and a page to read it and try the API. Both work without a network: the page's scripts and style
 * are inside the executable, and its policy forbids requests to any other host.
 *
 * The plug-in generates the document. It is not mounted in the app, because the page that it would add loads its script
 * from elsewhere, and its answers would lack our common headers.
 */
import { swagger } from '@elysiajs/swagger'
import { Elysia, type InternalRoute } from 'elysia'
import bundleFile from '../../../node_modules/swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import styleFile from '../../../node_modules/swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import docsStyle from './docs.css' with { type: 'text' }
import { docsPage, startScript, themeScript } from './docs-page.ts'
import { documentFrame, type DocumentLimits } from './document.ts'
import { asset, fresh, kept, once } from '../assets.ts'
import { endpoints } from '../endpoint.ts'
import { unpacked } from '../../embedded/packed.ts'
import type { Route } from '../exchange.ts'

export interface DocsParts {
  version: string
  limits: DocumentLimits
}

/** @param routes the described ones, unless their detail hides them */
export function docsRoutes(route: Route, parts: DocsParts, routes: readonly InternalRoute[]) {
  const bundle = once(async () => asset('text/javascript; charset=utf-8', new Blob([await unpacked(bundleFile)])))
  const style = once(async () => asset('text/css; charset=utf-8', new Blob([await unpacked(styleFile)])))
  const own = once(() => asset('text/css; charset=utf-8', new Blob([docsStyle])))
  const theme = once(() => asset('text/javascript; charset=utf-8', new Blob([themeScript])))
  const start = once(() => asset('text/javascript; charset=utf-8', new Blob([startScript])))
  const spec = once(async () => asset('application/json; charset=utf-8', new Blob([await documentOf(routes, parts)])))
  const page = once(async () => {
    const html = docsPage({
      swaggerStyle: (await style()).digest,
      swaggerScript: (await bundle()).digest,
      style: (await own()).digest,
      theme: (await theme()).digest,
      start: (await start()).digest,
    })
    return asset('text/html; charset=utf-8', new Blob([html]))
  })
  return endpoints(route, [
    ['GET /openapi.json', null, fresh(spec)],
    ['GET /docs', null, fresh(page, { 'content-security-policy': policy })],
    ['GET /docs/swagger-ui.css', null, kept(style)],
    ['GET /docs/swagger-ui-bundle.js', null, kept(bundle)],
    ['GET /docs/myna.css', null, kept(own)],
    ['GET /docs/theme.js', null, kept(theme)],
    ['GET /docs/start.js', null, kept(start)],
  ])
}

async function documentOf(routes: readonly InternalRoute[], { version, limits }: DocsParts): Promise<string> {
  const described = new Elysia()
  for (const { method, path, hooks } of routes) described.route(method, path, () => '', { detail: hooks.detail })
  described.use(
    swagger({
      documentation: documentFrame(version, limits),
      path: '/page',
      specPath: '/document',
      exclude: ['/page', '/document'],
      excludeMethods: ['HEAD', 'OPTIONS'],
      // Otherwise every path with a dot would be left out: preview.png is not a file.
      excludeStaticFile: false,
    }),
  )
  const answer = await described.handle(new Request('http://localhost/document'))
  return answer.text()
}

/** Data URLs are the arrows in the style; blobs are the results of tried speech requests. */
const policy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
