/** Answers what a person needs to point a program at this server, besides the address that the browser has. */
import { Elysia } from 'elysia'
import { json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import type { MachineFacts } from './server.ts'

export interface ConsoleConnectParts {
  gate: Gate
  machine: () => Promise<MachineFacts>
}

const loopbacks = ['127.0.0.1', '::1', 'localhost']

export function consoleConnectRoutes(route: Route, { gate, machine }: ConsoleConnectParts) {
  const look = route('/console/api/connect', async (exchange) => {
    await gate.enter(exchange, null, 'requests')
    const { publicUrl, networkUrls, wyoming } = await machine()
    return json({
      public_url: publicUrl,
      /** Empty: it listens to this machine alone. */
      network_urls: networkUrls,
      /** Of Home Assistant's protocol; null: off. */
      wyoming_port: wyoming?.port ?? null,
      is_wyoming_open: wyoming !== null && !loopbacks.includes(wyoming.host),
    })
  })
  return new Elysia().get('/console/api/connect', look, { detail: { hide: true } })
}
