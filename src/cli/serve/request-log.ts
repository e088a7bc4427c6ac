/**
 * One line a request at level info, as people look for it first: what was asked for, by whom, and how it ended. Never a
 * text and never a key. What programs ask for by themselves (probes, the console's own files and its polling) is debug.
 */
import type { Log } from '../../log.ts'

/** Routes that programs ask again and again. */
const background = /^\/(health|healthz|livez|readyz|metrics|console|assets|docs|favicon)|^\/$|\.(js|css|svg|png|webp)$/

/** @param fields as `http/exchange` gives them */
export function logRequest(log: Log, fields: Record<string, unknown>): void {
  const { event: _event, method, route, status, ms, ...rest } = fields
  const isBackground = background.test(String(route)) && Number(status) < 500
  const write = isBackground ? log.debug : log.info
  write(`${String(method)} ${String(route)}`, { status, ms, ...rest })
}
