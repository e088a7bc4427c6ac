import { describe, expect, test } from 'bun:test'
import { startListening } from '../http/transcription/transcription.fixture.ts'
import type { Instance } from '../testing/instance.ts'
import { until } from '../testing/until.ts'
import { audioOf, frame, typesOf, WyomingClient } from './client.fixture.ts'

const start = (settings: Parameters<typeof startListening>[0] = {}): Promise<Instance> =>
  startListening({ wyoming: '0', ...settings })
const connect = ({ server }: Instance) => WyomingClient.connect(server.wyoming?.port)
/** A tone of this many seconds. For the fake engine, every second is a part. */
const tone = (seconds: number, rate = 16_000) =>
  Int16Array.from({ length: seconds * rate }, (_, i) => 9000 * Math.sin(i / 20) + 1)

async function usage(instance: Instance) {
  const page = await instance.fetch('/v1/usage', { key: await instance.key({ account: 'wyoming' }) })
  return (await page.json()) as { totals: Record<string, Record<string, number>> }
}

describe('describe', () => {
  test('lists one program of each kind, with all models and voices in it', async () => {
    await using instance = await start()
    using client = await connect(instance)
    client.send('describe')
    const [{ data } = { data: {} }] = await client.until('info')
    const { asr, tts } = data as Record<string, { models: object[]; voices: object[]; name: string }[]>
    expect(asr).toHaveLength(1)
    expect(tts).toHaveLength(1)
    expect(asr![0]).toMatchObject({ name: 'myna', installed: true, requires_external_vad: true })
    expect(asr![0]!.models).toContainEqual(expect.objectContaining({ name: 'whisper-base', installed: true }))
    expect(tts![0]).toMatchObject({ name: 'myna', supports_synthesize_streaming: true })
    expect(tts![0]!.voices.length).toBeGreaterThan(1)
  })

  test('a new clone of the account appears without a reload; clones of other accounts do not', async () => {
    await using instance = await start()
    using client = await connect(instance)
    const mine = await instance.cloned(await instance.key({ account: 'wyoming' }), { name: 'Mine' })
    const other = await instance.cloned(await instance.key({ account: 'other' }), { name: 'Other' })
    client.send('describe')
    const [info] = await client.until('info')
    const text = JSON.stringify(info!.data)
    expect(text).toContain(mine.voice_id)
    expect(text).not.toContain(other.voice_id)
    client.send('synthesize', { text: 'Hello.', voice: { name: other.voice_id } })
    const events = await client.until('error')
    expect(events.at(-1)!.data).toMatchObject({ code: 'voice_not_found' })
  })

  test('a ping is answered with its text', async () => {
    await using instance = await start()
    using client = await connect(instance)
    client.send('ping', { text: 'x1' })
    expect((await client.until('pong'))[0]!.data).toEqual({ text: 'x1' })
  })
})

describe('transcription', () => {
  test('sound is transcribed as it arrives, and counted', async () => {
    await using instance = await start()
    using client = await connect(instance)
    client.send('transcribe', { language: 'en' })
    client.sendSound(tone(2))
    const events = await client.until('transcript-stop')
    expect(typesOf(events)).toEqual([
      'transcript-start',
      'transcript-chunk',
      'transcript-chunk',
      'transcript',
      'transcript-stop',
    ])
    expect(events[3]!.data).toEqual({ text: 'heard 0. heard 1.', language: 'en' })
    expect((await usage(instance)).totals.transcription).toMatchObject({ requests: 1, seconds: 2 })
  })

  test('two channels at 48 kHz are transcribed like one at 16 kHz', async () => {
    await using instance = await start()
    using client = await connect(instance)
    const mono = tone(2, 48_000)
    const stereo = Int16Array.from({ length: 2 * mono.length }, (_, i) => mono[i >> 1]!)
    client.sendSound(stereo, { rate: 48_000, channels: 2 })
    expect((await client.until('transcript')).at(-1)!.data.text).toBe('heard 0. heard 1.')
    expect((await usage(instance)).totals.transcription).toMatchObject({ seconds: 2 })
  })

  test('no sound at all gives an empty text', async () => {
    await using instance = await start()
    using client = await connect(instance)
    client.send('transcribe', { language: 'de' })
    client.sendSound(new Int16Array(0))
    expect((await client.until('transcript')).at(-1)!.data).toEqual({ text: '', language: 'de' })
  })

  test('an impossible request is an error, and the connection stays open', async () => {
    await using instance = await start({})
    using client = await connect(instance)
    client.send('transcribe', { name: 'no-such-model' })
    client.sendSound(tone(1))
    expect((await client.until('error')).at(-1)!.data).toMatchObject({ code: 'model_not_found' })
    // A rate far below that of a telephone would take seconds to resample.
    for (const format of [
      { rate: 16_000, width: 4 },
      { rate: 16_001, width: 2 },
      { rate: 1000, width: 2 },
    ]) {
      client.send('audio-start', { ...format, channels: 1 })
      expect((await client.until('error')).at(-1)!.data).toMatchObject({ code: 'invalid_audio' })
    }
    client.sendSound(tone(1))
    expect((await client.until('transcript')).at(-1)!.data.text).toBe('heard 0.')
  })

  test('a client that disconnects in the middle stops the work, and the sound so far is counted', async () => {
    await using instance = await start()
    const client = await connect(instance)
    client.send('audio-start', { rate: 16_000, width: 2, channels: 1 })
    client.send('audio-chunk', { rate: 16_000, width: 2, channels: 1 }, new Uint8Array(tone(2).buffer))
    await client.until('transcript-chunk')
    client.socket.destroy()
    await until('the engine was notified', () => instance.transcriber.aborted === 1)
    await until('it is in the usage', async () => (await usage(instance)).totals.transcription!.requests === 1)
    expect((await usage(instance)).totals.transcription!.seconds).toBeGreaterThanOrEqual(1)
  })

  test('an engine crash in the middle is an error, and the next sound is transcribed', async () => {
    await using instance = await start()
    using client = await connect(instance)
    instance.transcriber.plan = () => ({ failAt: 1 })
    client.sendSound(tone(3))
    expect((await client.until('error')).at(-1)!.data).toMatchObject({ code: 'generation_failed' })
    instance.transcriber.plan = () => ({})
    client.sendSound(tone(1))
    expect((await client.until('transcript')).at(-1)!.data.text).toBe('heard 0.')
  })
})

describe('speech', () => {
  test('a text is one operation and one stream of audio', async () => {
    await using instance = await start()
    using client = await connect(instance)
    client.send('synthesize', { text: 'Hello there.', voice: { name: 'alloy' } })
    const events = await client.until('audio-stop')
    expect(typesOf(events)[0]).toBe('audio-start')
    expect(events[0]!.data).toMatchObject({ rate: 24_000, width: 2, channels: 1 })
    // Four frames of 2400 samples.
    expect(audioOf(events).length).toBe(4 * 2400 * 2)
    expect((await usage(instance)).totals.speech).toMatchObject({ requests: 1, characters: 12 })
  })

  test('a streamed text is spoken sentence by sentence and once, although it is also sent whole', async () => {
    await using instance = await start()
    using client = await connect(instance)
    client.send('synthesize-start', { voice: { name: 'alloy' } })
    client.send('synthesize-chunk', { text: 'Hello ' })
    client.send('synthesize-chunk', { text: 'there, Dr. Smi' })
    client.send('synthesize-chunk', { text: 'th. Sec' })
    // The first sentence is spoken while the second is still arriving.
    const early = await client.until('audio-chunk')
    expect(instance.engine.orders.map(({ text }) => text)).toEqual(['Hello there, Dr. Smith. '])
    client.send('synthesize-chunk', { text: 'ond sentence.' })
    client.send('synthesize', { text: 'Hello there, Dr. Smith. Second sentence.', voice: { name: 'alloy' } })
    client.send('synthesize-stop')
    const events = [...early, ...(await client.until('synthesize-stopped'))]
    expect(instance.engine.orders.map(({ text }) => text)).toEqual(['Hello there, Dr. Smith. ', 'Second sentence.'])
    expect(audioOf(events).length).toBe(2 * 4 * 2400 * 2)
    expect(typesOf(events).filter((type) => type === 'audio-start')).toHaveLength(1)
    expect(typesOf(events).filter((type) => type === 'audio-stop')).toHaveLength(1)
  })

  test('a text over the limit of one request is spoken completely', async () => {
    await using instance = await start({ maxInputChars: 40 })
    using client = await connect(instance)
    const text = `${'One sentence of words. '.repeat(6)}${'x'.repeat(100)}`
    client.send('synthesize', { text })
    await client.until('audio-stop')
    expect(instance.engine.orders.map((order) => order.text).join('')).toBe(text)
    expect(Math.max(...instance.engine.orders.map((order) => order.text.length))).toBeLessThanOrEqual(40)
  })

  test('an unreadable sentence is skipped if others are spoken, otherwise it is an error', async () => {
    await using instance = await start()
    using client = await connect(instance)
    client.send('synthesize-start', {})
    client.send('synthesize-chunk', { text: '鳥が鳴く。\nGood. ' })
    client.send('synthesize-stop')
    expect(audioOf(await client.until('synthesize-stopped')).length).toBeGreaterThan(0)
    client.send('synthesize', { text: '鳥が鳴く。' })
    expect((await client.until('error')).at(-1)!.data).toMatchObject({ code: 'unsupported_value' })
  })

  test('a client that disconnects in the middle stops the work and pays for the audio that was sent', async () => {
    await using instance = await start()
    const held = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: (frame) => (frame === 2 ? held.promise : undefined) })
    const client = await connect(instance)
    client.send('synthesize', { text: 'twenty characters ok' })
    await client.until('audio-chunk')
    client.socket.destroy()
    await until('the engine was notified', () => instance.engine.aborted === 1)
    await until('it is settled', async () => (await usage(instance)).totals.speech!.requests === 1)
    const { charged_micros: charged } = (await usage(instance)).totals.speech!
    expect(charged).toBeGreaterThan(0)
    expect(charged).toBeLessThan(300)
    held.resolve()
  })

  test('an engine crash in the middle is an error and costs nothing', async () => {
    await using instance = await start()
    using client = await connect(instance)
    instance.engine.plan = () => ({ failAt: 2 })
    client.send('synthesize', { text: 'Hello.' })
    expect((await client.until('error')).at(-1)!.data).toMatchObject({ code: 'generation_failed' })
    expect((await usage(instance)).totals.speech).toMatchObject({ charged_micros: 0 })
  })

  test('a slow client gets every byte, and the engine waits for it', async () => {
    await using instance = await start()
    // 20 MB of audio: more than any buffer on the way.
    let made = 0
    instance.engine.plan = () => ({ frames: 400, samplesPerFrame: 24_000, before: () => void made++ })
    using client = await connect(instance)
    client.socket.pause()
    client.send('synthesize', { text: 'A long text.' })
    await until('the engine works', () => made > 0)
    using other = await connect(instance)
    for (let round = 0; round < 100; round++) {
      other.send('describe')
      await other.until('info')
    }
    expect(made).toBeLessThan(400)
    client.socket.resume()
    const events = await client.until('audio-stop')
    expect(audioOf(events).length).toBe(400 * 24_000 * 2)
  })
})

describe('limits', () => {
  test('rubbish of any kind closes the connection', async () => {
    await using instance = await start()
    const rubbish = [
      'GET / HTTP/1.1\r\n\r\n',
      '{"type":"ping"\n',
      '[]\n',
      '{"data":{}}\n',
      `{"type":"x","data_length":${2 ** 21}}\n`,
      '{"type":"x","payload_length":-1}\n',
      'x'.repeat(70_000),
      Buffer.concat([Buffer.from('{"type":"x","data_length":2}\n'), Buffer.from([0xff, 0xfe])]),
    ]
    for (const bytes of rubbish) {
      const client = await connect(instance)
      client.socket.write(bytes)
      await client.closed()
    }
    using client = await connect(instance)
    client.send('ping')
    await client.until('pong')
  })

  test('events arrive in any pieces, with data in the header or behind it, unknown events among them', async () => {
    await using instance = await start()
    using client = await connect(instance)
    const bytes = Buffer.concat([
      Buffer.from('{"type":"ping","data":{"text":"inline"}}\n'),
      frame('select-program', { name: 'myna' }),
      frame('no-such-event', {}, new Uint8Array([10, 10])),
      frame('ping', { text: 'behind' }),
    ])
    for (const byte of bytes) client.socket.write(Buffer.of(byte))
    const pongs = [...(await client.until('pong')), ...(await client.until('pong'))]
    expect(pongs.map(({ data }) => data.text)).toEqual(['inline', 'behind'])
  })

  test('the account pays, and is refused when it cannot', async () => {
    await using instance = await start({ wyomingAccount: 'kitchen', speechPerMinute: 2 })
    using client = await connect(instance)
    for (const _ of [1, 2]) {
      client.send('synthesize', { text: 'Hello.' })
      await client.until('audio-stop')
    }
    client.send('synthesize', { text: 'Hello.' })
    expect((await client.until('error')).at(-1)!.data).toMatchObject({ code: 'rate_limit_exceeded' })
    await instance.server.administration.disableAccount({ name: 'kitchen' })
    client.sendSound(tone(1))
    expect((await client.until('error')).at(-1)!.data).toMatchObject({ code: 'account_disabled' })
  })

  test('too many waiting requests close the connection', async () => {
    await using instance = await start()
    const held = Promise.withResolvers<void>()
    instance.engine.plan = () => ({ before: () => held.promise })
    const client = await connect(instance)
    for (let i = 0; i < 40; i++) client.send('synthesize', { text: 'Hello.' })
    await client.closed()
    held.resolve()
  })

  test('is off by default', async () => {
    await using instance = await startListening()
    expect(instance.server.wyoming).toBeNull()
  })
})
