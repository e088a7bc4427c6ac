import { describe, expect, test } from 'bun:test'
import { deaf, startListening } from '../http/transcription/transcription.fixture.ts'
import { startInstance } from '../testing/instance.ts'
import { RealtimeClient, tone } from './client.fixture.ts'

const insecure = (secret: string) => ['realtime', `openai-insecure-api-key.${secret}`, 'openai-organization.x']

/** What a refused client receives, which WebSocket clients do not show. */
async function refusal(url: string, headers: Record<string, string> = {}) {
  const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const key = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
  const response = await fetch(`${url}/v1/realtime?intent=transcription`, {
    headers: { ...upgrade, ...key, ...headers },
  })
  const { error } = (await response.json()) as { error: { code: string } }
  return { status: response.status, code: error.code, id: response.headers.get('x-request-id') }
}

async function secret(instance: Awaited<ReturnType<typeof startListening>>, key: string, body: object = {}) {
  const response = await instance.fetch('/v1/realtime/client_secrets', {
    method: 'POST',
    key,
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> & { value: string } }
}

/** A value that is too deep to be made text again. */
const nestedText = '['.repeat(100_000) + ']'.repeat(100_000)

describe('admission', () => {
  test('accepts a key in a header or in a subprotocol, and returns only the subprotocol `realtime`', async () => {
    await using instance = await startListening()
    const key = await instance.key({ scopes: ['tts'] })
    using byHeader = await RealtimeClient.connect(instance.url, { key })
    await byHeader.until('session.created')
    using byProtocol = await RealtimeClient.connect(instance.url, { protocols: insecure(key) })
    await byProtocol.until('session.created')
    expect(byProtocol.socket.protocol).toBe('realtime')
    expect(instance.lines.join('')).not.toContain(key)
  })

  test('refuses every other client before the upgrade, with the error envelope', async () => {
    await using instance = await startListening()
    expect(await refusal(instance.url)).toMatchObject({ status: 401, code: 'missing_api_key' })
    expect(await refusal(instance.url, { authorization: 'Bearer sk-myna-wrong' })).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
      id: expect.stringMatching(/^req_/),
    })
    expect(await refusal(instance.url, { 'sec-websocket-protocol': insecure('ek_x.y').join(', ') })).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
    const authorization = `Bearer ${await instance.key({ scopes: ['voices'] })}`
    expect(await refusal(instance.url, { authorization })).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })

  test('refuses a session without a model that transcribes', async () => {
    await using instance = await startInstance({}, { catalog: deaf })
    const authorization = `Bearer ${await instance.key()}`
    expect(await refusal(instance.url, { authorization })).toMatchObject({ code: 'transcription_unavailable' })
  })

  test('answers a plain request with the purpose of the address', async () => {
    await using instance = await startListening()
    const response = await instance.fetch('/v1/realtime', { key: await instance.key() })
    expect(response.status).toBe(426)
    expect(await response.json()).toMatchObject({ error: { code: 'upgrade_required' } })
    const wrong = await instance.fetch('/v1/realtime', { method: 'POST', body: '{}' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })

  test('an account has a limited number of sockets, and gets one back when it closes one', async () => {
    await using instance = await startListening({ realtimeSessions: 1 })
    const key = await instance.key()
    const first = await RealtimeClient.connect(instance.url, { key })
    const authorization = `Bearer ${key}`
    expect(await refusal(instance.url, { authorization })).toMatchObject({ code: 'concurrency_limit_exceeded' })
    first.socket.close()
    await first.closed()
    using again = await RealtimeClient.connect(instance.url, { key })
    await again.until('session.created')
  })

  test('a handshake that fails takes no place', async () => {
    await using instance = await startListening({ realtimeSessions: 1 })
    const key = await instance.key()
    const headers = { connection: 'Upgrade', upgrade: 'websocket' }
    for (let turn = 0; turn < 3; turn++) {
      const refused = await instance.fetch('/v1/realtime?intent=transcription', { key, headers })
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('websocket')])
    }
    using client = await RealtimeClient.connect(instance.url, { key })
    await client.until('session.created')
  })

  test('of sockets that are opened at the same time, those beyond the limit are closed', async () => {
    await using instance = await startListening({ realtimeSessions: 2 })
    const key = await instance.key()
    const address = `${instance.url.replace(/^http/, 'ws')}/v1/realtime?intent=transcription`
    const sockets = [1, 2, 3, 4].map(() => new WebSocket(address, insecure(key)))
    const ends = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.onmessage = () => resolve('created')
          socket.onclose = () => resolve('closed')
        }),
    )
    expect((await Promise.all(ends)).toSorted()).toEqual(['closed', 'closed', 'created', 'created'])
    for (const socket of sockets) socket.close()
  })

  test('turns wait for each other when an account is at its limit, and no speech is lost', async () => {
    await using instance = await startListening({ transcriptionConcurrency: 1 })
    const key = await instance.key()
    const clients = await Promise.all([1, 2, 3].map(() => RealtimeClient.connect(instance.url, { key })))
    for (const client of clients) {
      client.update({ turn_detection: null })
      client.append(tone(1))
      client.send({ type: 'input_audio_buffer.commit' })
    }
    for (const client of clients) {
      expect((await client.until('transcription.completed')).at(-1)).toMatchObject({ transcript: 'heard 0.' })
      client.socket.close()
    }
  })

  test('a revoked key closes the session at its next turn', async () => {
    await using instance = await startListening()
    const { administration } = instance.server
    const { secret: key, key: record } = await administration.createKey({
      account: 'ada',
      name: 'k',
      scopes: null,
      expires: null,
    })
    using client = await RealtimeClient.connect(instance.url, { key })
    client.update({ turn_detection: null })
    await client.until('session.updated')
    await administration.revokeKey({ id: record.id })
    client.append(tone(1))
    client.send({ type: 'input_audio_buffer.commit' })
    expect((await client.closed()).code).toBe(1008)
  })
})

describe('client secrets', () => {
  test('open sessions with the settings that they were created with', async () => {
    await using instance = await startListening()
    const key = await instance.key()
    const session = { type: 'transcription', audio: { input: { format: { type: 'audio/pcmu' } } } }
    const { status, body } = await secret(instance, key, {
      expires_after: { anchor: 'created_at', seconds: 60 },
      session,
    })
    expect(status).toBe(200)
    expect(body.value).toStartWith('ek_')
    expect(body.expires_at).toBe(Math.floor(instance.clock.nowMs() / 1000) + 60)
    expect(body.session).toMatchObject(session)
    for (const options of [{ key: body.value }, { protocols: insecure(body.value) }]) {
      using client = await RealtimeClient.connect(instance.url, options)
      expect((await client.until('session.created'))[0]).toMatchObject({ session })
    }
  })

  test('are useless for other routes, after they expire, and after their key is revoked', async () => {
    await using instance = await startListening()
    const { administration } = instance.server
    const { secret: key, key: record } = await administration.createKey({
      account: 'ada',
      name: 'k',
      scopes: null,
      expires: null,
    })
    const { body } = await secret(instance, key, { expires_after: { seconds: 60 } })
    const authorization = `Bearer ${body.value}`
    expect((await instance.fetch('/v1/models', { key: body.value })).status).toBe(401)
    expect((await secret(instance, body.value)).status).toBe(401)
    const forged = `${body.value.slice(0, -1)}${body.value.endsWith('A') ? 'B' : 'A'}`
    expect(await refusal(instance.url, { authorization: `Bearer ${forged}` })).toMatchObject({
      code: 'invalid_api_key',
    })
    instance.clock.advance(61_000)
    expect(await refusal(instance.url, { authorization })).toMatchObject({ code: 'expired_api_key' })
    const { body: second } = await secret(instance, key)
    await administration.revokeKey({ id: record.id })
    expect(await refusal(instance.url, { authorization: `Bearer ${second.value}` })).toMatchObject({
      code: 'invalid_api_key',
    })
  })

  test('are refused when a field is invalid or the key lacks the scope', async () => {
    await using instance = await startListening()
    const key = await instance.key()
    const codeOf = async (body: object) => ((await secret(instance, key, body)).body.error as { code: string }).code
    expect(await codeOf({ expires_after: { seconds: 5 } })).toBe('decimal_below_min_value')
    expect(await codeOf({ expires_after: 'soon' })).toBe('invalid_type')
    expect(await codeOf({ session: { prompt: 'x'.repeat(5000) } })).toBe('string_above_max_length')
    const body = `{"session":{"include":${nestedText}}}`
    const deep = await instance.fetch('/v1/realtime/client_secrets', { method: 'POST', key, body })
    expect(await deep.json()).toMatchObject({ error: { code: 'string_above_max_length' } })
    const scoped = await instance.key({ scopes: ['usage'] })
    expect((await secret(instance, scoped)).status).toBe(403)
  })
})

describe('rubbish', () => {
  test('is reported and does not end the session', async () => {
    await using instance = await startListening()
    using client = await RealtimeClient.connect(instance.url, { key: await instance.key() })
    await client.until('session.created')
    const cases: [string | Uint8Array, string][] = [
      ['not JSON', 'invalid_event'],
      ['"text"', 'invalid_event'],
      ['17', 'invalid_event'],
      ['[]', 'invalid_event'],
      ['{}', 'invalid_event'],
      ['{"type":7}', 'invalid_event'],
      ['null', 'invalid_event'],
      [new Uint8Array([1, 2, 3]), 'invalid_event'],
      ['{"type":"no.such.event"}', 'invalid_value'],
      ['{"type":"input_audio_buffer.append"}', 'invalid_value'],
      ['{"type":"input_audio_buffer.append","audio":"!!!"}', 'invalid_value'],
      ['{"type":"response.create"}', 'unsupported_value'],
      ['{"type":"response.cancel"}', 'response_cancel_not_active'],
    ]
    for (const [message, code] of cases) {
      client.socket.send(message)
      expect([message, (await client.until('error')).at(-1)!.error]).toEqual([
        message,
        expect.objectContaining({ code }),
      ])
    }
    for (const message of ['{"type":"session.update"}', '{"type":"session.update","session":[1]}']) {
      client.socket.send(message)
      await client.until('session.updated')
    }
  })

  test('twenty megabytes in one event are accepted, but more sound than can wait ends the session', async () => {
    await using instance = await startListening()
    using client = await RealtimeClient.connect(instance.url, { key: await instance.key() })
    client.update({ turn_detection: null })
    client.append(new Int16Array(7_500_000), 20_000_000)
    expect((await client.until('error')).at(-1)).toMatchObject({ error: { code: 'input_audio_buffer_full' } })
    expect((await client.closed()).code).toBe(1009)
  })

  test('settings that are nested a hundred thousand times are refused like long ones', async () => {
    await using instance = await startListening()
    using client = await RealtimeClient.connect(instance.url, { key: await instance.key() })
    client.socket.send(`{"type":"session.update","session":{"include":${nestedText}}}`)
    expect((await client.until('error')).at(-1)).toMatchObject({ error: { code: 'string_above_max_length' } })
  })

  test('more sound than can wait is refused before it is decoded, which would take seconds', async () => {
    await using instance = await startListening()
    using client = await RealtimeClient.connect(instance.url, { key: await instance.key() })
    client.update({ turn_detection: null, format: { type: 'audio/pcmu' } })
    // Nothing of it is base64: that would be noticed by decoding it.
    client.send({ type: 'input_audio_buffer.append', audio: '!'.repeat(3_300_000) })
    expect((await client.until('error')).at(-1)).toMatchObject({ error: { code: 'input_audio_buffer_full' } })
    expect((await client.closed()).code).toBe(1009)
  })
})
