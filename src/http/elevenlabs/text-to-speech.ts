/**
 * `POST /v1/text-to-speech/{voice_id}` and `/stream`: speech in ElevenLabs' words. Both send the sound as it is made,
 * which clients that wait for all of it do not notice.
 */
import type { Endpoint } from '../endpoint.ts'
import type { Exchange } from '../exchange.ts'
import { invalidInput } from '../invalid.ts'
import { streamSpeechDetail, textToSpeechDetail } from '../openapi/elevenlabs.ts'
import { speakAction, type SpeechParts } from '../speech/speech.ts'
import { parseTextToSpeech, textToSpeechFields } from './speech-request.ts'

export function textToSpeechEndpoints(parts: SpeechParts): readonly Endpoint[] {
  const fields = textToSpeechFields(parts.limits)
  const speak = speakAction(parts, (body, exchange) =>
    parseTextToSpeech(body, exchange.url.searchParams, voiceNameOf(exchange), fields),
  )
  return [
    ['POST /v1/text-to-speech/{voice_id}', textToSpeechDetail, speak],
    ['POST /v1/text-to-speech/{voice_id}/stream', streamSpeechDetail, speak],
  ]
}

const maxNameChars = 256

/** An id, an alias or a name: what a speech request may name. @throws MynaError `validation_error` */
function voiceNameOf({ url }: Exchange): string {
  const raw = url.pathname.split('/')[3] ?? ''
  try {
    const name = decodeURIComponent(raw).trim()
    if (name !== '' && name.length <= maxNameChars) return name
  } catch {
    // Refused below.
  }
  const msg = `string should have 1 to ${maxNameChars} characters, percent-encoded`
  throw invalidInput(['path', 'voice_id'], msg, 'string_pattern_mismatch')
}
