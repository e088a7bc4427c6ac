/** ElevenLabs' own SDK for JavaScript, unmodified, as the client of a test. */
import { ElevenLabsClient, ElevenLabsError } from '@elevenlabs/elevenlabs-js'
import type { Instance } from '../../testing/instance.ts'

export const sdk = ({ url }: Instance, apiKey: string) => new ElevenLabsClient({ baseUrl: url, apiKey, maxRetries: 0 })

export const bytesOf = (stream: ReadableStream<Uint8Array>): Promise<Uint8Array> => new Response(stream).bytes()

/** @returns the status and what its users read of an error */
export async function refusal(call: () => Promise<unknown>): Promise<{ status: number | undefined; detail: unknown }> {
  try {
    await call()
  } catch (error) {
    if (!(error instanceof ElevenLabsError)) throw error
    return { status: error.statusCode, detail: (error.body as { detail?: unknown }).detail }
  }
  throw new Error('it was not refused')
}
