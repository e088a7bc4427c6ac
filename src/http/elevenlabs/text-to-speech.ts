/**
 * `POST /v1/text-to-speech/{voice_id}` and `/stream`: speech in ElevenLabs' words. Both send the sound as it is made,
 * which clients that wait for all of it do not notice. Under `/with-timestamps`, JSON has the sound and the times of
 * its characters.
 */
import type { Body } from '../body.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Exchange } from '../exchange.ts'
import { invalidInput } from '../invalid.ts'
import { streamSpeechDetail, streamTimedDetail, textToSpeechDetail, timedSpeechDetail } from '../openapi/elevenlabs.ts'
import { captionAction, type Piece } from '../speech/captioned.ts'
import { speakAction, type SpeechParts } from '../speech/speech.ts'
import { wordsOf } from '../speech/word-records.ts'
import { Alignment } from './alignment.ts'
import { timedSpeech } from './records.ts'
import { parseTextToSpeech, textToSpeechFields } from './speech-request.ts'

export function textToSpeechEndpoints(parts: SpeechParts): readonly Endpoint[] {
  const fields = textToSpeechFields(parts.limits)
  const parse = (body: Body, exchange: Exchange) =>
    parseTextToSpeech(body, exchange.url.searchParams, voiceNameOf(exchange), fields)
  const speak = speakAction(parts, parse)
  const timed = (isStream: boolean) =>
    captionAction(parts, (body, exchange) => {
      const asked = { ...parse(body, exchange), wordTimes: true }
      return { asked, isStream, told: timedPieces(asked.input) }
    })
  return [
    ['POST /v1/text-to-speech/{voice_id}', textToSpeechDetail, speak],
    ['POST /v1/text-to-speech/{voice_id}/stream', streamSpeechDetail, speak],
    ['POST /v1/text-to-speech/{voice_id}/with-timestamps', timedSpeechDetail, timed(false)],
    ['POST /v1/text-to-speech/{voice_id}/stream/with-timestamps', streamTimedDetail, timed(true)],
  ]
}

/** @returns what gives each piece of the speech its characters */
function timedPieces(input: string) {
  const alignment = new Alignment(input)
  return ({ bytes, words, format, lengthS }: Piece) => {
    const heard = wordsOf(words, input, format)
    const chars = [...alignment.upTo(heard), ...(lengthS === null ? [] : alignment.rest(lengthS))]
    if (bytes.length === 0 && chars.length === 0 && lengthS !== null) return null
    return timedSpeech.of({ bytes, chars, isEstimated: heard.some((word) => word.isEstimated) })
  }
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
