/** `myna doctor` on the machine: native libraries, and the server with its address. */
import type { Config } from '../../config.ts'
import { setNativeDir } from '../../engine/native.ts'
import type { ServerStatus } from '../../http/admin-socket.ts'
import { failed, type Found, noted, ok, warning, wordsOf } from './finding.ts'
import { duration } from '../terminal/format.ts'

const answerMs = 5000

/** Draws a red square: loading the library shows that native code can be unpacked and run from its folder. */
export async function checkImages(config: Config): Promise<Found> {
  const place = Bun.isStandaloneExecutable ? `unpacked in ${config.nativeDir}` : 'from node_modules'
  try {
    setNativeDir(config.nativeDir)
    const { default: sharp } = await import('sharp')
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8" fill="#f00"/></svg>'
    const png = await sharp(Buffer.from(svg)).png().toBuffer()
    const [red, green] = await sharp(png).removeAlpha().raw().toBuffer()
    if (red !== 255 || green !== 0)
      return failed(`libvips ${sharp.versions.vips} draws wrong pixels`, 'Reinstall Myna.')
    return ok(`load and run (${place}); libvips ${sharp.versions.vips} draws`)
  } catch (error) {
    return failed(wordsOf(error), 'Set MYNA_NATIVE_DIR to a folder that is writable and may contain programs.')
  }
}

/**
 * Whether a server could start here, or which one already has.
 * @param own what the data folder's server reports; null: none runs
 */
export async function checkPort({ host, port }: Config, own: ServerStatus | null): Promise<Found> {
  if (own !== null) return ok(`used by this data folder's server: ${own.url}, process ${own.pid}`)
  if (port === 0) return ok('any free one')
  try {
    Bun.listen({ hostname: host, port, exclusive: true, socket: { data: () => {} } }).stop(true)
    return ok(`${host}:${port} is free`)
  } catch (error) {
    const taken = (error as { code?: unknown }).code === 'EADDRINUSE'
    if (!taken) return failed(`${host}:${port}: ${wordsOf(error)}`, 'Choose another address with --host.')
  }
  const other = await mynaAt(host, port)
  const remedy = 'Choose another one: myna serve --port 0, or MYNA_PORT.'
  if (other !== null)
    return warning(`${host}:${port} is used by another Myna (${other}) with another data folder`, remedy)
  return failed(`${host}:${port} is in use by another program`, remedy)
}

async function mynaAt(host: string, port: number): Promise<string | null> {
  try {
    const reach = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
    const url = `http://${reach.includes(':') ? `[${reach}]` : reach}:${port}/`
    const answer = await fetch(url, { signal: AbortSignal.timeout(answerMs) })
    const body = (await answer.json()) as { name?: unknown; version?: unknown }
    return String(body.name).toLowerCase() === 'myna' ? String(body.version) : null
  } catch {
    return null
  }
}

/** @param own as above */
export async function checkServer(own: ServerStatus | null): Promise<Found> {
  if (own === null) return noted('no server runs on this data folder', 'Start it: myna serve')
  const since = `version ${own.version}, up ${duration(own.uptimeMs)}`
  // It may listen on every address; from here it is reached by the loopback.
  const url = own.url.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]')
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(answerMs) })
    const { status } = (await answer.json()) as { status?: unknown }
    if (status === 'ready') return ok(`ready, ${since}`)
    const why = own.troubles.map(({ words }) => words).join('; ')
    const message = `${status}, ${since}${why === '' ? '' : `: ${why}`}`
    return answer.ok
      ? warning(message, 'Look at: myna ps')
      : failed(message, 'Look at: myna ps, and the log of the server.')
  } catch (error) {
    return failed(`${url} does not answer: ${wordsOf(error)}`, 'Look at the log of the server, or restart it.')
  }
}
