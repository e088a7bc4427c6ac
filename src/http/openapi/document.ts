/** The frame of the API's document: what holds for all routes, and the schemas. The routes bring their own parts. */
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types'
import { speechToTextFields } from '../elevenlabs/speech-to-text-fields.ts'
import { textToSpeechFields } from '../elevenlabs/speech-request.ts'
import { consentChangeFields, consentFields } from '../voices/consent-fields.ts'
import { objectOf, type Schema } from '../fields/field.ts'
import { speechFields, type SpeechLimits } from '../speech/request.ts'
import { type RecordingLimits, transcriptionFields, translationFields } from '../transcription/request.ts'
import { type ClipLimits, cloneFields, voiceChangeFields } from '../voices/fields.ts'
import { elevenLabsTag } from './elevenlabs.ts'
import { answerRecords } from './records.ts'
import { errorSchemas, headers } from './refusals.ts'

/** As configured; the document states them. */
export type DocumentLimits = SpeechLimits & RecordingLimits & ClipLimits

/** Schemas are JSON Schema 2020-12 (`null` as a type, `const`), which OpenAPI has had since 3.1. */
const openApiVersion = '3.1.0'

const about = [
  'OpenAI clients work once their `base_url` is this address with `/v1`.',
  '**Keys.** Send `Authorization: Bearer <key>`. If there is no `Authorization` and the server allows it, ' +
    '`xi-api-key`, `X-API-Key` and `api-key` work too. A key is unrestricted or has some of the scopes `tts`, ' +
    '`voices` and `usage`.',
  '**Request ids.** Every answer has an `X-Request-Id`: `op_...` once the request has made an operation, otherwise ' +
    '`req_...`. An `X-Client-Request-Id` that is sent is returned.',
  '**Errors.** Every answer from status 400 on is the JSON envelope of the schema `Error`, on audio routes too. ' +
    'Unknown paths return 404 `unknown_url`, unsupported methods 405 `method_not_allowed`.',
  '**Repeating.** Send an `Idempotency-Key` of 1 to 128 bytes with speech and clones, a new one for each piece of ' +
    'work. The same key again gets 409 `duplicate_request`, which names the first operation: nothing is made or ' +
    'charged twice.',
  '**Limits.** 429 and a temporary 503 say in `Retry-After` how long to wait. `x-should-retry: false` says that a ' +
    'retry is of no use.',
  '**Bodies.** JSON is parsed whatever its `Content-Type`. Unknown fields are ignored; `null` means absent.',
  '**HEAD** works wherever GET does; a trailing slash makes no difference.',
].join('\n\n')

const tags: OpenAPIV3_1.TagObject[] = [
  { name: 'Audio', description: 'Speech and transcription.' },
  { name: 'Operations', description: 'How a speech request or clone ended.' },
  { name: 'Voices', description: 'Your own voices and public ones; cloning.' },
  { name: 'Models' },
  { name: 'Account', description: 'Your account and its usage.' },
  { name: 'Administration', description: 'For administrators, with an unrestricted key.' },
  elevenLabsTag,
  { name: 'Server', description: 'Health and metrics, beside the versioned paths.' },
]

const speechWords =
  'OpenAI’s speech request, with more fields. Unknown fields are ignored, `null` means absent, and numbers may be ' +
  'strings.'
const cloneWords =
  'Exactly one file; its field may also be called `clip`, `files`, `audio_sample`, `audio`, `audio_file`, `sample` ' +
  'or `reference`. Unknown fields are ignored.'

const requestSchemas = (limits: DocumentLimits): Record<string, Schema> => ({
  SpeechRequest: objectOf(speechFields(limits), { description: speechWords }),
  TextToSpeechRequest: objectOf(textToSpeechFields(limits)),
  SpeechToTextRequest: objectOf(speechToTextFields(limits)),
  TranscriptionRequest: objectOf(transcriptionFields(limits)),
  TranslationRequest: objectOf(translationFields(limits)),
  VoiceChange: objectOf(voiceChangeFields, { minProperties: 1, description: 'What to change; `null` clears.' }),
  EditVoiceRequest: objectOf(voiceChangeFields, {}, true),
  CloneRequest: objectOf(cloneFields(limits), { description: cloneWords }, true),
  ConsentRequest: objectOf(consentFields(limits)),
  ConsentChange: objectOf(consentChangeFields),
})

const answerSchemas: Record<string, Schema> = Object.fromEntries(
  Object.entries(answerRecords).map(([name, { schema }]) => [name, schema]),
)

/**
 * @param version of this program
 * @returns the frame to which the plug-in adds the routes; its type knows only OpenAPI 3.0, but it copies anything
 */
export function documentFrame(version: string, limits: DocumentLimits): Partial<OpenAPIV3.Document> {
  const frame: Partial<OpenAPIV3_1.Document> = {
    openapi: openApiVersion,
    info: {
      title: 'Myna',
      version,
      summary: 'Text to speech, voices and transcription on your own machine.',
      description: about,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags,
    components: {
      schemas: { ...errorSchemas, ...requestSchemas(limits), ...answerSchemas },
      headers,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `sk-myna-` and 43 letters and digits.' },
        xiApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'xi-api-key',
          description: 'The same key, for ElevenLabs’ API.',
        },
      },
    },
  }
  return frame as Partial<OpenAPIV3.Document>
}
