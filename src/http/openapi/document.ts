/** The frame of the API's document: what is said once, above all routes. The routes bring their own parts. */
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types'
import { errorSchemas, headers } from './refusals.ts'
import { recordSchemas } from './records.ts'
import { speechSchemas } from './speech.ts'
import { transcriptionSchemas } from './transcription.ts'
import { voiceSchemas } from './voice-records.ts'

/** Schemas are JSON Schema 2020-12 (`null` as a type, `const`), which OpenAPI has had since 3.1. */
const openApiVersion = '3.1.0'

const about = [
  'Speech behind an OpenAI-compatible API: clients that are made for OpenAI work with `base_url` set to this address ' +
    'and `/v1`.',
  '**Keys.** Send `Authorization: Bearer <key>`; where the server allows it, `xi-api-key`, `X-API-Key` and `api-key` ' +
    'do, too, when there is no `Authorization`. A key is unrestricted or has some of the scopes `tts`, `voices` and ' +
    '`usage`.',
  '**Request ids.** Every answer has an `X-Request-Id`: `op_...` once the request has made an operation, otherwise ' +
    '`req_...`. An `X-Client-Request-Id` that is sent comes back.',
  '**Errors.** Every answer from 400 on is the JSON envelope of the schema `Error`, on audio routes too. A path that ' +
    'there is not answers 404 `unknown_url`, a method that a path has not 405 `method_not_allowed`.',
  '**Bodies.** JSON is read whatever its `Content-Type` says. Unknown fields are ignored; `null` means absent.',
  '**HEAD** works wherever GET does; a slash at the end of a path makes no difference.',
].join('\n\n')

const tags: OpenAPIV3_1.TagObject[] = [
  { name: 'Audio', description: 'Speak, and write down what was spoken.' },
  { name: 'Operations', description: 'What became of a speech request or a clone.' },
  { name: 'Voices', description: 'Your own and public ones; clones of a clip.' },
  { name: 'Models' },
  { name: 'Account', description: 'Who am I, what did I use.' },
  { name: 'Server', description: 'Health and metrics, beside the versioned paths.' },
]

/**
 * @param version of this program
 * @returns what the plug-in adds the routes to; its type knows OpenAPI 3.0 only, but it copies what it is given
 */
export function documentFrame(version: string): Partial<OpenAPIV3.Document> {
  const frame: Partial<OpenAPIV3_1.Document> = {
    openapi: openApiVersion,
    info: {
      title: 'Myna',
      version,
      summary: 'Text to speech, voices and transcription on your own machine.',
      description: about,
      // No identifier: the page would make a link to another host of it.
      license: { name: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This server' }],
    tags,
    components: {
      schemas: { ...errorSchemas, ...speechSchemas, ...transcriptionSchemas, ...voiceSchemas, ...recordSchemas },
      headers,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An API key: `sk-myna-` and 43 letters and digits.' },
      },
    },
  }
  return frame as Partial<OpenAPIV3.Document>
}
