/**
 * The one place where a request's protocol chooses what answers it. ElevenLabs' API shares paths with OpenAI's and with
 * ours (`GET /v1/models`, `DELETE /v1/voices/{voice_id}`) and answers them in other forms.
 */
import { MynaError } from '../../domain/error.ts'
import { type Endpoint, endpoints } from '../endpoint.ts'
import type { Action, Route } from '../exchange.ts'

/** @returns a route that answers ElevenLabs' clients with these actions, where there is one for the path */
export function choosing(route: Route, theirs: readonly Endpoint[]): Route {
  const byPath = new Map(theirs.map(([on, , action]) => [on as string, action]))
  return (template, ours) =>
    route(template, (exchange) => {
      if (!exchange.isElevenLabs) return ours(exchange)
      const method = exchange.request.method === 'HEAD' ? 'GET' : exchange.request.method
      return (byPath.get(`${method} ${template}`) ?? ours)(exchange)
    })
}

/** Routes of ElevenLabs alone: for everyone else they do not exist. */
export const theirsAlone = (route: Route, theirs: readonly Endpoint[]) =>
  endpoints(
    route,
    theirs.map(([on, detail]): Endpoint => [on, detail, nothingHere]),
  )

const nothingHere: Action = ({ request, url }) => {
  const path = url.pathname.slice(0, 200)
  const hint = 'This address belongs to ElevenLabs’ API, whose clients send the key as xi-api-key.'
  throw new MynaError('unknown_url', `Invalid URL (${request.method} ${path}). ${hint}`)
}
