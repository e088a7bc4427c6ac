/**
 * Which requests may act without a key, tested with what browsers and load balancers send, byte by byte, because no
 * client would send it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../testing/instance.ts'
import { OwnNames } from './own-names.ts'

/** @param head without `Connection` @returns status and body */
async function send(url: string, head: string, body = ''): Promise<{ status: number; text: string }> {
  const received: Buffer[] = []
  const closed = Promise.withResolvers<void>()
  const length = body === '' ? '' : `Content-Length: ${body.length}\r\n`
  await Bun.connect({
    hostname: '127.0.0.1',
    port: Number(new URL(url).port),
    socket: {
      open: (socket) => void socket.write(`${head}\r\nConnection: close\r\n${length}\r\n${body}`),
      data: (_, bytes) => void received.push(Buffer.from(bytes)),
      close: () => closed.resolve(),
      error: (_, error) => closed.reject(error),
    },
  })
  await closed.promise
  const text = Buffer.concat(received).toString()
  return { status: Number(text.split(' ')[1]), text }
}

describe('names that no stranger can own', () => {
  const names = new OwnNames({ publicUrl: 'https://voice.example', host: '0.0.0.0' })
  test.each([
    'localhost',
    'localhost:8790',
    '127.0.0.1',
    '192.168.1.7:8790',
    '[::1]:8790',
    'myna',
    'nas.local',
    'VOICE.example:443',
  ])('%s is our own', (host) => expect(names.has(host)).toBe(true))
  test.each([
    'evil.example',
    'evil.example:8790',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'a.voice.example',
  ])('%s is not', (host) => expect(names.has(host)).toBe(false))
})

describe('an unreadable Host header', () => {
  let instance: Instance
  beforeAll(async () => (instance = await startInstance()))
  afterAll(() => instance[Symbol.asyncDispose]())

  const hosts: [string, string][] = [
    ['none, by HTTP/1.0', 'HTTP/1.0'],
    ['an empty one', 'HTTP/1.1\r\nHost:'],
    ['with a space', 'HTTP/1.1\r\nHost: a b'],
    ['half an address', 'HTTP/1.1\r\nHost: [::'],
    ['with a user', 'HTTP/1.1\r\nHost: x@y'],
    ['with a path', 'HTTP/1.1\r\nHost: a/b'],
    ['a port too high', 'HTTP/1.1\r\nHost: a:99999'],
    ['two', 'HTTP/1.1\r\nHost: a\r\nHost: b'],
    ['the same twice', 'HTTP/1.1\r\nHost: a\r\nHost: a'],
  ]
  test.each(hosts)('%s: 400 in the envelope, and a probe is answered', async (_, head) => {
    const refused = await send(instance.url, `GET /v1/models ${head}`)
    expect(refused.status).toBe(400)
    expect(refused.text).toMatch(/"code":"invalid_host".*"request_id":"req_/)
    expect(refused.text.toLowerCase()).toContain('x-request-id: req_')
    for (const path of ['/health', '/readyz'])
      expect((await send(instance.url, `GET ${path} ${head}`)).status).toBe(200)
    expect((await send(instance.url, `POST /nowhere ${head}`)).status).toBe(400)
  })
})

describe('in anonymous mode', () => {
  let instance: Instance
  let key: string
  const allowed = 'https://app.example'
  beforeAll(async () => {
    instance = await startInstance({ allowAnonymous: true, corsOrigins: [allowed] })
    key = await instance.key()
  })
  afterAll(() => instance[Symbol.asyncDispose]())

  const speech = '{"input":"hello there","voice":"alloy","response_format":"pcm"}'
  const at = (host: string, ...headers: string[]) => ['HTTP/1.1', `Host: ${host}`, ...headers].join('\r\n')
  const post = async (head: string) => (await send(instance.url, `POST /v1/audio/speech ${head}`, speech)).status
  const list = async (head: string) => (await send(instance.url, `GET /v1/voices ${head}`)).status

  test('programs, the own page and allowed origins are accepted', async () => {
    const { host } = new URL(instance.url)
    expect(await list(at(host))).toBe(200)
    expect(await list(at('myna:8790'))).toBe(200)
    expect(await list(at('127.0.0.1', 'Sec-Fetch-Site: none'))).toBe(200)
    expect(await post(at(host, `Origin: http://${host}`, 'Sec-Fetch-Site: same-origin'))).toBe(200)
    expect(await post(at(host, `Origin: ${allowed}`, 'Sec-Fetch-Site: cross-site'))).toBe(200)
    // Behind a proxy with TLS that passes its own address on.
    expect(await post(at('127.0.0.1:8790', 'Origin: https://voice.example', 'Sec-Fetch-Site: same-origin'))).toBe(200)
  })

  test.each<[string, string]>([
    ['a foreign page', at('127.0.0.1:8790', 'Origin: http://evil.example', 'Sec-Fetch-Site: cross-site')],
    ['a foreign page of an old browser', at('127.0.0.1:8790', 'Origin: http://evil.example')],
    ['a sandboxed page', at('127.0.0.1:8790', 'Origin: null')],
    ['a page of another port', at('localhost:8790', 'Origin: http://localhost:3000', 'Sec-Fetch-Site: same-site')],
    ['a rebound name', at('evil.example', 'Origin: http://evil.example')],
    ['a rebound name that claims to be here', at('evil.example:8790', 'Sec-Fetch-Site: same-origin')],
  ])('%s is refused, for reading and writing', async (_, head) => {
    expect(await post(head)).toBe(403)
    expect((await send(instance.url, `DELETE /v1/voices/v1 ${head}`)).status).toBe(403)
    if (!head.includes('Origin')) expect(await list(head)).toBe(403)
  })

  test('an image of a foreign page reads nothing', async () => {
    expect(await list(at('127.0.0.1:8790', 'Sec-Fetch-Site: cross-site'))).toBe(403)
  })

  test('with a key every name and every page is accepted, because no foreign page has the key', async () => {
    const bearer = `Authorization: Bearer ${key}`
    expect(await list(at('evil.example', bearer))).toBe(200)
    expect(await post(at('voice.corp.example', bearer, 'Origin: http://evil.example'))).toBe(200)
  })

  test('under an unknown name the refusal says what to do', async () => {
    const refused = await send(instance.url, `GET /v1/voices ${at('voice.corp.example')}`)
    expect(refused.text).toContain('MYNA_PUBLIC_URL')
    await using known = await startInstance({ allowAnonymous: true, publicUrl: 'http://voice.corp.example' })
    expect((await send(known.url, `GET /v1/voices ${at('voice.corp.example')}`)).status).toBe(200)
  })
})

test('a rebound page can neither sign in nor use a session', async () => {
  await using instance = await startInstance()
  const key = await instance.key()
  const body = JSON.stringify({ api_key: key })
  const signIn = (head: string) => send(instance.url, `POST /console/api/session ${head}`, body)
  expect((await signIn('HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example')).status).toBe(403)
  const { host } = new URL(instance.url)
  const opened = await signIn(`HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://${host}`)
  expect(opened.status).toBe(200)
  const cookie = /set-cookie: ([^;]+)/i.exec(opened.text)?.[1]
  const me = (head: string) => send(instance.url, `GET /v1/me HTTP/1.1\r\n${head}\r\nCookie: ${cookie}`)
  expect((await me(`Host: ${host}`)).status).toBe(200)
  expect((await me('Host: evil.example')).status).toBe(401)
})
