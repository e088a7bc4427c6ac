/** Routes as a list, each path written once, as the API's document writes it: `/v1/voices/{voice_id}`. */
import { type DocumentDecoration, Elysia } from 'elysia'
import type { Action, Route } from './exchange.ts'

/** `{id*}` takes the rest of the path. The detail is the route's description; null: not in the document. */
export type Endpoint = readonly [
  on: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`,
  DocumentDecoration | null,
  Action,
]

/** Elysia never parses a body: our own readers have limits, and run after authentication. */
export function endpoints(route: Route, list: readonly Endpoint[]): Elysia {
  const app = new Elysia()
  for (const [on, detail, action] of list) {
    const [method = '', path = ''] = on.split(' ')
    const pattern = path.replace(/\{\w+\*\}/g, '*').replace(/\{(\w+)\}/g, ':$1')
    const template = path.replace('*}', '}')
    app.route(method, pattern, route(template, action), { parse: 'none', detail: detail ?? { hide: true } })
  }
  return app
}
