/** A client in a session with a server whose engine only measures sound. */
import { MynaError } from '../domain/error.ts'
import { startListening } from '../http/transcription/transcription.fixture.ts'
import { RealtimeClient } from './client.fixture.ts'

export const item = 'conversation.item.input_audio_transcription'
export const engineFailed = new MynaError('engine_unavailable', 'The engine failed.')
/** The client ends items. */
export const manual = { turn_detection: null }

export async function open(
  settings: Parameters<typeof startListening>[0] = {},
  options: { input?: object; query?: string } = {},
) {
  const instance = await startListening(settings)
  const key = await instance.key()
  const client = await RealtimeClient.connect(instance.url, { key, query: options.query ?? '?intent=transcription' })
  const [created] = await client.until('session.created')
  if (options.input !== undefined) {
    client.update(options.input)
    await client.until('session.updated')
  }
  const dispose = async () => {
    client.socket.close()
    await instance[Symbol.asyncDispose]()
  }
  return { instance, key, client, created, [Symbol.asyncDispose]: dispose }
}
