import { describe, expect, test } from 'bun:test'
import { usageOf } from '../http/transcription/transcription.fixture.ts'
import { concatS16 } from '../audio/pcm.ts'
import { until } from '../testing/until.ts'
import { silence, tone, typesOf } from './client.fixture.ts'
import { engineFailed, item, manual, open } from './session.fixture.ts'

describe('a session', () => {
  test('begins by sending its settings, and sends all of them again after each change', async () => {
    await using scene = await open()
    const { client, created } = scene
    expect(created).toMatchObject({
      event_id: expect.stringMatching(/^event_/),
      session: {
        type: 'transcription',
        object: 'realtime.transcription_session',
        audio: { input: { format: { type: 'audio/pcm', rate: 24_000 }, turn_detection: { type: 'server_vad' } } },
      },
    })
    client.update({ turn_detection: { threshold: 0.7 }, transcription: { model: 'gpt-4o-transcribe', language: 'en' } })
    const [updated] = await client.until('session.updated')
    expect(updated).toMatchObject({
      session: {
        audio: {
          input: {
            turn_detection: { type: 'server_vad', threshold: 0.7, silence_duration_ms: 500 },
            transcription: { model: 'gpt-4o-transcribe', language: 'en' },
          },
        },
      },
    })
  })

  test('accepts unknown settings without an error', async () => {
    await using scene = await open()
    const { client } = scene
    client.send({
      type: 'session.update',
      session: {
        type: 'realtime',
        tracing: 'auto',
        tools: [{ type: 'function', name: 'x' }],
        instructions: null,
        audio: {
          output: { voice: 'marin' },
          input: {
            turn_detection: { type: 'semantic_vad', eagerness: 'high' },
            noise_reduction: { type: 'near_field' },
          },
        },
      },
    })
    const [updated] = await client.until('session.updated')
    expect(updated).toMatchObject({
      session: {
        type: 'transcription',
        audio: { input: { turn_detection: { type: 'semantic_vad', eagerness: 'high' } } },
      },
    })
  })
})

describe('a transcription that is not possible here', () => {
  test.each([
    ['model', { model: 'whisper-99' }, 'model_not_found', "The model 'whisper-99' does not exist"],
    ['language', { model: 'gpt-4o-transcribe', language: 'tlh' }, 'unsupported_value', "Invalid value: 'tlh'."],
  ])('is an error as soon as it is asked for: %s', async (param, transcription, code, message) => {
    await using scene = await open({}, { input: { transcription: { model: 'whisper-1', language: 'en' } } })
    const { client } = scene
    client.send({
      type: 'session.update',
      event_id: 'mine',
      session: { type: 'transcription', audio: { input: { transcription } } },
    })
    const events = await client.until('error')
    expect(typesOf(events)).toEqual(['session.updated', 'error'])
    expect(events[1]).toMatchObject({
      error: { type: 'invalid_request_error', code, message: expect.stringContaining(message), event_id: 'mine' },
    })
    expect(events[1]).toMatchObject({ error: { param: `session.audio.input.transcription.${param}` } })
    client.update({ transcription: { model: 'whisper-1', language: 'en' } })
    client.append(concatS16([silence(1), tone(1), silence(1)]))
    expect(typesOf(await client.until(`${item}.completed`))).not.toContain('error')
  })
})

describe('turns by the detector', () => {
  test('arrive in the order of the protocol, with matching ids', async () => {
    await using scene = await open()
    const { client, instance, key } = scene
    client.append(concatS16([silence(1), tone(1), silence(1)]))
    const events = (await client.until(`${item}.completed`)).filter(({ type }) => !type.endsWith('.delta'))
    expect(typesOf(events)).toEqual([
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      `${item}.completed`,
    ])
    const id = String(events[0]!.item_id)
    for (const event of events) {
      const its = event.item as { id: string; content: unknown[] } | undefined
      expect(String(event.item_id ?? its?.id)).toBe(id)
      if (its !== undefined) expect(its.content).toEqual([{ type: 'input_audio', transcript: null }])
    }
    // The turn includes the prefix of 300 ms and the silence that ended it.
    expect(Number(events[0]!.audio_start_ms)).toBeWithin(640, 720)
    expect(Number(events[1]!.audio_end_ms)).toBeWithin(2480, 2600)
    expect(events[5]).toMatchObject({ content_index: 0, languages: [{ code: 'en' }], usage: { type: 'duration' } })
    expect(String(events[5]!.transcript)).toStartWith('heard 0.')
    expect(await usageOf(instance, key)).toMatchObject({ requests: 1, charged_micros: 0 })
  })

  test('two turns follow each other, each after the one before', async () => {
    await using scene = await open()
    const { client } = scene
    client.append(concatS16([tone(1), silence(1), tone(1), silence(1)]))
    const first = (await client.until(`${item}.completed`)).at(-1)!
    const second = await client.until(`${item}.completed`)
    expect(second.at(-1)!.item_id).not.toBe(first.item_id)
    const all = [first, ...second]
    expect(
      all.filter(({ type }) => type.endsWith('committed')).every((e) => e.previous_item_id !== e.item_id),
    ).toBeTrue()
  })

  test('text arrives while the speaker is still talking, and it only grows', async () => {
    await using scene = await open()
    const { client } = scene
    const deltas: string[] = []
    // The fake engine hears `heard 0.`, `heard 0. heard 1.`, and so on: two guesses agree on all but the last.
    for (let second = 0; second < 5; second++) {
      client.append(tone(1))
      if (second < 2) continue
      const events = await client.until('.delta')
      deltas.push(...events.filter(({ type }) => type.endsWith('.delta')).map(({ delta }) => String(delta)))
      expect(events.some(({ type }) => type.endsWith('speech_stopped'))).toBeFalse()
    }
    client.append(silence(1))
    const events = await client.until(`${item}.completed`)
    deltas.push(...events.filter(({ type }) => type.endsWith('.delta')).map(({ delta }) => String(delta)))
    expect(deltas.join('')).toBe(String(events.at(-1)!.transcript))
  })

  test('a commit in the middle of speech takes the sound so far, under the announced id', async () => {
    await using scene = await open()
    const { client } = scene
    client.append(tone(1))
    const started = (await client.until('speech_started')).at(-1)!
    client.send({ type: 'input_audio_buffer.commit' })
    const committed = (await client.until('buffer.committed')).at(-1)!
    expect(committed.item_id).toBe(started.item_id)
    client.append(concatS16([tone(1), silence(1)]))
    const stopped = (await client.until('speech_stopped')).at(-1)!
    expect(stopped.item_id).not.toBe(started.item_id)
    const next = (await client.until('buffer.committed')).at(-1)!
    expect(next).toMatchObject({ item_id: stopped.item_id, previous_item_id: started.item_id })
  })

  test('a commit during silence is not an error, because clients would reconnect', async () => {
    await using scene = await open()
    const { client } = scene
    client.send({ type: 'input_audio_buffer.commit' })
    client.update({})
    expect(typesOf(await client.until('session.updated'))).toEqual(['session.updated'])
  })

  test('clear drops the sound so far', async () => {
    await using scene = await open()
    const { client } = scene
    client.append(tone(1))
    await client.until('speech_started')
    client.send({ type: 'input_audio_buffer.clear' })
    await client.until('buffer.cleared')
    client.append(concatS16([silence(1), tone(0.5), silence(1)]))
    const events = await client.until(`${item}.completed`)
    expect(typesOf(events).filter((type) => type.endsWith('committed'))).toHaveLength(1)
    expect(Number(events.find(({ type }) => type.endsWith('speech_started'))!.audio_start_ms)).toBeWithin(1640, 1720)
  })

  test('a speaker who never pauses gets one turn a minute', async () => {
    await using scene = await open()
    const { client } = scene
    client.append(tone(62), 480_000)
    const events = await client.until('speech_stopped')
    expect(Number(events.at(-1)!.audio_end_ms)).toBeWithin(59_900, 60_100)
    expect(typesOf(await client.until('speech_started'))).toContain('input_audio_buffer.committed')
  })
})

describe('turns by commits', () => {
  test('the client decides', async () => {
    await using scene = await open({}, { input: manual })
    const { client } = scene
    client.append(concatS16([tone(1), silence(1), tone(1)]))
    client.send({ type: 'input_audio_buffer.commit' })
    const events = await client.until(`${item}.completed`)
    expect(typesOf(events).filter((type) => type.includes('speech_'))).toEqual([])
    expect(events.at(-1)).toMatchObject({ usage: { type: 'duration', seconds: 3 } })
    expect(String(events.at(-1)!.transcript)).toMatch(/^heard 0\..*heard 2\.$/)
  })

  test('refuses less than a tenth of a second in OpenAI’s words, with the id of the event', async () => {
    await using scene = await open({}, { input: manual })
    const { client } = scene
    client.append(tone(0.05))
    client.send({ type: 'input_audio_buffer.commit', event_id: 'mine' })
    expect((await client.until('error')).at(-1)).toMatchObject({
      error: { type: 'invalid_request_error', code: 'input_audio_buffer_commit_empty', event_id: 'mine' },
    })
  })

  test('turns are transcribed in order, and a failed turn does not end the session', async () => {
    await using scene = await open({}, { input: manual })
    const { client, instance } = scene
    instance.transcriber.plan = ({ prompt }) => (prompt === 'fail' ? { failAt: 0 } : {})
    for (const [seconds, prompt] of [[3], [2, 'fail'], [1]] as const) {
      client.update({ transcription: { prompt: prompt ?? null } })
      client.append(tone(seconds))
      client.send({ type: 'input_audio_buffer.commit' })
    }
    const events = [
      ...(await client.until(`${item}.completed`)),
      ...(await client.until(`${item}.failed`)),
      ...(await client.until(`${item}.completed`)),
    ]
    const ids = events.filter(({ type }) => type.endsWith('committed')).map(({ item_id: id }) => id)
    const ends = events.filter(({ type }) => /completed|failed/.test(type))
    expect(ends.map(({ item_id: id }) => id)).toEqual(ids)
    expect(Object.keys(ends[1]!.error as object).sort()).toEqual(['code', 'message', 'type'])
    expect(ends[2]).toMatchObject({ transcript: 'heard 0.' })
  })

  test.each([
    ['audio/pcm', 24_000, 2],
    ['audio/pcm', 16_000, 2],
    ['audio/pcmu', 8000, 1],
    ['audio/pcma', 8000, 1],
  ])('%s at %d Hz is transcribed', async (type, rate, bytes) => {
    await using scene = await open({}, { input: { ...manual, format: { type, rate } } })
    const { client } = scene
    const pcm = bytes === 2 ? tone(2, rate) : Int16Array.from({ length: 8000 }, (_, i) => (i % 40) * 257)
    // An odd number of bytes at a time.
    client.append(pcm, 4801)
    client.send({ type: 'input_audio_buffer.commit' })
    expect((await client.until(`${item}.completed`)).at(-1)).toMatchObject({ usage: { seconds: 2 } })
  })
})

describe('items', () => {
  test('can be read with their transcript, and deleted', async () => {
    await using scene = await open({}, { input: manual })
    const { client } = scene
    client.append(tone(1))
    client.send({ type: 'input_audio_buffer.commit' })
    const { item_id: id } = (await client.until(`${item}.completed`)).at(-1)!
    client.send({ type: 'conversation.item.retrieve', item_id: id })
    expect((await client.until('item.retrieved')).at(-1)).toMatchObject({
      item: { id, content: [{ type: 'input_audio', transcript: 'heard 0.' }] },
    })
    client.send({ type: 'conversation.item.delete', item_id: id })
    await client.until('item.deleted')
    client.send({ type: 'conversation.item.retrieve', item_id: id, event_id: 'e' })
    expect((await client.until('error')).at(-1)).toMatchObject({
      error: { code: 'item_retrieve_invalid_item_id', event_id: 'e' },
    })
  })
})

describe('the engine', () => {
  test('may crash in the middle of speech: the turn ends there and the next one is transcribed', async () => {
    await using scene = await open()
    const { client, instance } = scene
    client.append(tone(1))
    await client.until('speech_started')
    instance.clock.advance(10_000)
    instance.transcriber.watchFailures.push(engineFailed)
    client.append(tone(0.2))
    await client.until('speech_stopped')
    await client.until(`${item}.completed`)
    client.append(concatS16([silence(0.3), tone(1), silence(1)]))
    expect(typesOf(await client.until(`${item}.completed`))).toContain('input_audio_buffer.speech_started')
  })

  test('closes the session with the reason if it does not restart', async () => {
    await using scene = await open()
    const { client, instance } = scene
    instance.transcriber.watchFailures.push(engineFailed, engineFailed)
    client.append(tone(1))
    expect((await client.until('error')).at(-1)).toMatchObject({
      error: { type: 'server_error', code: 'engine_unavailable' },
    })
    expect((await client.closed()).code).toBe(1013)
  })
})

describe('a client that disconnects', () => {
  test('ends the work that was done for it', async () => {
    await using scene = await open({}, { input: manual })
    const { client, instance, key } = scene
    const held = Promise.withResolvers<void>()
    instance.transcriber.plan = () => ({ partMs: 100, before: (part) => (part === 1 ? held.promise : undefined) })
    // Too short for a guess.
    client.append(tone(0.4))
    client.send({ type: 'input_audio_buffer.commit' })
    await until('the engine listens', () => instance.transcriber.active === 1)
    client.socket.terminate()
    await until('the engine was notified', () => instance.transcriber.aborted === 1)
    await until('it is in the usage', async () => (await usageOf(instance, key)).requests === 1)
    held.resolve()
  })

  test('leaves nothing behind', async () => {
    await using scene = await open()
    const { client, instance } = scene
    client.append(tone(1))
    await client.until('speech_started')
    client.socket.terminate()
    await until('nothing is watched', () => instance.transcriber.watched === 0)
  })
})
