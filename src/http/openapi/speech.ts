/** The bodies of speech as the API's document shows them (docs/api.md 2). */
import { audioFormats, sampleRatesHz } from '../../domain/speech.ts'
import { type Schema, schemaRef } from './refusals.ts'

const speechRequest: Schema = {
  type: 'object',
  required: ['input'],
  description:
    'OpenAI’s speech request and some fields more. Fields that are not listed are ignored; `null` is the same as ' +
    'absent; a number may come as a numeric string.',
  properties: {
    input: {
      type: 'string',
      minLength: 1,
      description:
        'The text to speak; not blank. Its length is counted in Unicode code points; the limit (4096 ' +
        'unless the server ' +
        'is set otherwise) stands in `GET /v1/me`. A text that would take more than 15 minutes to speak, ' +
        'as thousands ' +
        'of digits do, is refused, too.',
    },
    model: {
      type: ['string', 'null'],
      default: 'auto',
      description:
        'A model id, or `auto`: the best one installed. OpenAI’s names (`tts-1`, `tts-1-hd`, `gpt-4o-mini-tts`) mean ' +
        '`auto`, too. With these the voice chooses the model.',
    },
    voice: {
      description:
        'A voice by its id, by an alias (OpenAI’s `alloy`, `nova` and so on are some) or by its name. Absent: the ' +
        'server’s default voice. Two to eight preset voices of one model that can mix them (Kokoro) are one voice ' +
        'with `+` between them, and weights in brackets where they are not equal: `af_heart+af_sky`, ' +
        '`af_heart(2)+am_adam(0.5)`. The operation names the mixture by the ids of its voices.',
      anyOf: [
        { type: ['string', 'null'] },
        { type: 'object', required: ['id'], properties: { id: { type: 'string' } } },
      ],
    },
    voice_id: { type: ['string', 'null'], description: 'The same as `voice`, which wins.' },
    response_format: {
      type: ['string', 'null'],
      enum: [...audioFormats, 'ogg', null],
      default: 'mp3',
      description: 'In any case of letters. `ogg` is `opus`. `pcm` is s16le, mono, without a header.',
    },
    speed: { type: ['number', 'null'], minimum: 0.25, maximum: 4, default: 1 },
    stream_format: {
      type: ['string', 'null'],
      enum: ['audio', 'sse', null],
      default: 'audio',
      description: '`audio`: the bytes themselves. `sse`: the same bytes in server-sent events.',
    },
    instructions: {
      type: ['string', 'null'],
      maxLength: 4096,
      description: 'How to speak; ignored by models that cannot use it.',
    },
    language: { type: ['string', 'null'], description: 'A hint: a BCP-47 tag such as `en` or `en-US`.' },
    seed: { type: ['integer', 'null'], minimum: 0, maximum: 4294967295 },
    sample_rate: {
      type: ['integer', 'null'],
      enum: [...sampleRatesHz, null],
      default: 24000,
      description: 'In hertz. Other than 24000 only with `pcm` and `wav`.',
    },
  },
}

const speechEvents: Schema = {
  type: 'string',
  description:
    'Lines that begin with `data: `, each a `SpeechDeltaEvent`, at last one `SpeechDoneEvent` and ' +
    '`[DONE]`. No `event:` ' +
    'lines. A `: keepalive` comment comes every 15 seconds of silence. After a `SpeechErrorEvent` the ' +
    'connection breaks.',
}

const speechDelta: Schema = {
  type: 'object',
  required: ['type', 'audio'],
  properties: {
    type: { type: 'string', const: 'speech.audio.delta' },
    audio: {
      type: 'string',
      format: 'byte',
      description: 'A slice of the stream that `stream_format: audio` gives, in Base64.',
    },
  },
}

const speechDone: Schema = {
  type: 'object',
  required: ['type', 'usage', 'operation_id'],
  properties: {
    type: { type: 'string', const: 'speech.audio.done' },
    usage: {
      type: 'object',
      required: ['input_tokens', 'output_tokens', 'total_tokens', 'characters', 'audio_seconds'],
      properties: {
        input_tokens: { type: 'integer', const: 0, description: 'There are no tokens here.' },
        output_tokens: { type: 'integer', const: 0 },
        total_tokens: { type: 'integer', const: 0 },
        characters: { type: 'integer' },
        audio_seconds: { type: 'number' },
      },
    },
    operation_id: { type: 'string' },
  },
}

const speechError: Schema = {
  type: 'object',
  required: ['type', 'error'],
  properties: { type: { type: 'string', const: 'error' }, error: schemaRef('ErrorObject') },
}

export const speechSchemas: Record<string, Schema> = {
  SpeechRequest: speechRequest,
  SpeechEvents: speechEvents,
  SpeechDeltaEvent: speechDelta,
  SpeechDoneEvent: speechDone,
  SpeechErrorEvent: speechError,
}
