/** The least that a request can cost here: one route of Elysia with a constant answer. Prints its port. */
import { Elysia } from 'elysia'

const body = JSON.stringify({ status: 'ok' })
const app = new Elysia({ serve: { reusePort: false } })
  .get('/', () => new Response(body, { headers: { 'content-type': 'application/json' } }))
  .listen({ port: 0, hostname: '127.0.0.1' })
process.stdout.write(`${app.server?.port}\n`)
