/** The model is loaded while the clip is on its way, so that the first transcription waits for one of the two. */
import { expect, test } from 'bun:test'
import { until } from '../../testing/until.ts'
import { recording, said, startListening, transcribe } from './transcription.fixture.ts'

const builtIn = 'moonshine-tiny-en'

test('the only model begins to load when the upload begins', async () => {
  await using instance = await startListening({}, [])
  const { promise: rest, resolve: sendRest } = Promise.withResolvers<void>()
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="talk.wav"\r\n\r\n'
  const upload = new ReadableStream<Uint8Array>({
    async start(body) {
      body.enqueue(Buffer.from(head))
      await rest
      body.enqueue(recording)
      body.enqueue(Buffer.from('\r\n--b--\r\n'))
      body.close()
    },
  })
  const answer = instance.fetch('/v1/audio/transcriptions', {
    method: 'POST',
    key: await instance.key(),
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: upload,
  })
  await until('the model is asked for', () => instance.transcriber.prepared.length > 0)
  expect(instance.transcriber.prepared).toEqual([builtIn])
  expect(instance.transcriber.orders).toEqual([])
  sendRest()
  expect(await (await answer).json()).toMatchObject({ text: said })
})

test('of several models only the one that the form names is loaded', async () => {
  await using instance = await startListening()
  const key = await instance.key()
  expect((await transcribe(instance, key, { model: builtIn })).status).toBe(200)
  expect(instance.transcriber.prepared).toEqual([builtIn])
})

test('a request without a key loads nothing', async () => {
  await using instance = await startListening({}, [])
  expect((await transcribe(instance, 'sk-myna-unknown')).status).toBe(401)
  expect(instance.transcriber.prepared).toEqual([])
})
