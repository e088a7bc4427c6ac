/** What the routes of voices are in the API's document (docs/api.md 4.2 to 4.7). */
import type { OpenAPIV3_1 } from 'openapi-types'
import type { ErrorCode } from '../../domain/error.ts'
import { headerRef, refusals, schemaRef } from './refusals.ts'
import { examples, voiceId } from './examples.ts'
import {
  bearer,
  detail,
  type Headers,
  idempotencyKey,
  ok,
  openOrBearer,
  pathId,
  publicCodes,
  query,
  rates,
  requestId,
  scoped,
} from './parts.ts'

const tags = ['Voices']
const idParameter = pathId('voice_id', 'A voice’s id: letters, digits, `_`, `.` and `-`, at most 128.', voiceId)
const unseen =
  'A voice that is neither yours nor public is answered exactly as one that does not exist: 404 `voice_not_found`.'

const listParameters = [
  query('limit', 'Voices on a page; `page_size` is the same.', {
    type: 'integer',
    minimum: 1,
    maximum: 1000,
    default: 100,
  }),
  query('after', 'Only voices behind the one with this id; `starting_after` is the same.', { type: 'string' }),
  query('before', 'Only voices before it; `ending_before` is the same.', { type: 'string' }),
  query('order', 'By age.', { type: 'string', enum: ['asc', 'desc'], default: 'desc' }),
  query('owner', 'Whose; `is_owner=true`, `type` and `voice_type` say the same in the words of other services.', {
    type: 'string',
    enum: ['me', 'public', 'all'],
    default: 'all',
  }),
  query('status', 'Own voices may be in any status; public ones are ready.', {
    type: 'string',
    enum: ['processing', 'ready', 'failed'],
  }),
  query('category', 'Clones, or the voices of the models.', { type: 'string', enum: ['cloned', 'premade'] }),
  query('language', 'A BCP-47 tag: `en` finds `en-GB`, too.', { type: 'string' }),
  query('search', 'Anywhere in name, description, labels or id, whatever the case; `q` is the same.', {
    type: 'string',
  }),
  query('compat', '`0` leaves out `voices`, which repeats `data`.', { type: 'string', enum: ['0', '1'] }),
]

export const voicesDetail = detail({
  tags,
  operationId: 'listVoices',
  summary: 'List the voices',
  description:
    'Your own voices in every status, and the public ones. Asks for the scope `voices`. Parameters that are not ' +
    'listed are ignored.',
  security: bearer,
  parameters: listParameters,
  responses: {
    200: ok('VoiceList', 'The voices.'),
    ...refusals(...scoped, 'validation_error', 'invalid_cursor'),
  },
})

export const audioVoicesDetail = detail({
  tags,
  operationId: 'listSpeechVoices',
  summary: 'List the voices, without a key',
  description:
    'For the pickers of user interfaces: needs no key, and any web page may read it. A key that is sent must be ' +
    'valid and have the scope `voices` or `tts`; your own voices are then listed, too. Parameters: as `/v1/voices`.',
  security: openOrBearer,
  parameters: listParameters,
  responses: {
    200: ok('VoiceList', 'The voices.'),
    ...refusals(...publicCodes, 'insufficient_scope', 'validation_error', 'invalid_cursor'),
  },
})

export const voiceDetail = detail({
  tags,
  operationId: 'retrieveVoice',
  summary: 'Look at a voice',
  description: `Asks for the scope \`voices\`. ${unseen}`,
  security: bearer,
  parameters: [idParameter],
  responses: { 200: ok('Voice', 'The voice.'), ...refusals(...scoped, 'voice_not_found', 'validation_error') },
})

const changing: readonly ErrorCode[] = [...scoped, 'voice_not_found', 'voice_not_owned', 'validation_error']

export const updateVoiceDetail = detail({
  tags,
  operationId: 'updateVoice',
  summary: 'Rename or relabel a voice',
  description: `For its owner; what is not named stays. A form with the same fields does, too. ${unseen}`,
  security: bearer,
  parameters: [idParameter],
  requestBody: {
    required: true,
    content: {
      'application/json': { schema: schemaRef('VoiceChange'), example: examples.VoiceChange },
      'multipart/form-data': { schema: schemaRef('VoiceChangeForm') },
    },
  },
  responses: {
    200: ok('Voice', 'The voice as it is now.'),
    ...refusals(...changing, 'request_timeout', 'request_too_large'),
  },
})

export const deleteVoiceDetail = detail({
  tags,
  operationId: 'deleteVoice',
  summary: 'Delete a voice',
  description:
    'For its owner. Clip, reference and preview go with it; agents that use it lose it and stay. A clone that is ' +
    `still being made is cancelled and refunded. ${unseen}`,
  security: bearer,
  parameters: [idParameter],
  responses: { 204: { description: 'It is gone.', headers: { ...requestId, ...rates } }, ...refusals(...changing) },
})

export const cloneDetail = detail({
  tags,
  operationId: 'createVoice',
  summary: 'Clone a voice from one clip',
  description:
    'Asks for the scope `voices`. The clip is checked before anything is charged; then the answer comes at once, and ' +
    'the voice is made in the background: it is `processing`, then `ready` or `failed`. Whatever keeps it from being ' +
    'ready refunds the charge in full. `/v1/audio/voices`, `/v1/voices/clone` and `/v1/voices/add` do the same.',
  security: bearer,
  parameters: [idempotencyKey],
  requestBody: { required: true, content: { 'multipart/form-data': { schema: schemaRef('CloneRequest') } } },
  responses: {
    201: {
      ...ok('NewVoice', 'The voice is being made.'),
      headers: { 'X-Request-Id': headerRef('OperationId'), Location: headerRef('Location'), ...rates },
    },
    ...refusals(
      'invalid_idempotency_key',
      ...scoped,
      'insufficient_balance',
      'admin_required',
      'voice_limit_reached',
      'model_not_found',
      'request_timeout',
      'duplicate_request',
      'request_too_large',
      'unsupported_media_type',
      'validation_error',
      'missing_file',
      'too_many_files',
      'clip_undecodable',
      'clip_too_short',
      'clip_too_long',
      'clip_silent',
      'consent_required',
      'concurrency_limit_exceeded',
      'generation_failed',
      'engine_overloaded',
      'engine_unavailable',
      'model_unavailable',
      'server_shutting_down',
      'storage_full',
      'database_damaged',
    ),
  },
})

const binary: OpenAPIV3_1.MediaTypeObject = { schema: { type: 'string', format: 'binary' } }
const validators: Headers = {
  ...requestId,
  ETag: headerRef('ETag'),
  'Last-Modified': headerRef('LastModified'),
  'Accept-Ranges': headerRef('AcceptRanges'),
}

const heard = (types: readonly string[]): OpenAPIV3_1.ResponsesObject => {
  const content = Object.fromEntries(types.map((type) => [type, binary]))
  return {
    200: { description: 'The whole.', headers: validators, content },
    206: {
      description: 'The part that was asked for.',
      headers: { ...validators, 'Content-Range': headerRef('ContentRange') },
      content,
    },
    304: { description: 'The same as you have.', headers: validators },
    ...refusals(
      'missing_api_key',
      ...publicCodes,
      'voice_not_found',
      'preview_not_available',
      'voice_not_ready',
      'range_not_satisfiable',
      'validation_error',
      'generation_failed',
      'engine_overloaded',
      'engine_unavailable',
      'model_unavailable',
    ),
  }
}

const access =
  'For a public voice no credential is needed and none is looked at, so that a bare element of any web page can load ' +
  'it. For your own it takes a key of your account, with whatever scope. Anything else is 401 without a key and 404 ' +
  'with one.'

export const previewDetail = detail({
  tags,
  operationId: 'previewVoice',
  summary: 'Hear a voice',
  description: `A few seconds of speech, 24 kHz mono, with support for parts. ${access}`,
  security: openOrBearer,
  parameters: [
    idParameter,
    query('response_format', 'In any case of letters.', {
      type: 'string',
      enum: ['wav', 'mp3', 'opus'],
      default: 'wav',
    }),
  ],
  responses: heard(['audio/wav', 'audio/mpeg', 'audio/ogg']),
})

export const pictureDetail = (format: 'png' | 'webp') =>
  detail({
    tags,
    operationId: `pictureVoice${format === 'png' ? 'Png' : 'Webp'}`,
    summary: `See a voice (${format.toUpperCase()})`,
    description: `Waveform over mel spectrogram of its preview, on a transparent ground. ${access}`,
    security: openOrBearer,
    parameters: [
      idParameter,
      query('theme', 'Of the page that shows it.', { type: 'string', enum: ['light', 'dark'], default: 'light' }),
    ],
    responses: heard([`image/${format}`]),
  })
