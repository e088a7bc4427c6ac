/** The routes of voices in the API's document (docs/api.md 4.2 to 4.7). */
import type { OpenAPIV3_1 } from 'openapi-types'
import type { ErrorCode } from '../../domain/error.ts'
import { audioTypes, pictureTypes } from '../content-types.ts'
import { parametersOf } from '../fields/field.ts'
import { pictureFields, previewFields, voiceQueryFields } from '../voices/query.ts'
import { engineCodes } from './audio.ts'
import {
  binaryOf,
  detail,
  type Headers,
  idempotencyKey,
  ok,
  openOrBearer,
  pathId,
  publicCodes,
  rates,
  requestId,
  scoped,
} from './parts.ts'
import { headerRef, refusals } from './refusals.ts'
import { schemaRef } from './shapes.ts'
import { exampleVoiceId } from './voice-records.ts'

const idParameter = pathId('voice_id', 'A voice’s id: letters, digits, `_`, `.` and `-`, at most 128.', exampleVoiceId)
const unseen =
  'A voice that is neither yours nor public is answered exactly like one that does not exist: 404 `voice_not_found`.'

const listParameters = parametersOf(voiceQueryFields)

export const voicesDetail = detail('Voices', 'listVoices', 'List voices', {
  description:
    'Your own voices in every status, and public ones. Requires the scope `voices`. Unknown parameters are ignored.',
  parameters: listParameters,
  responses: {
    200: ok('VoiceList', 'The voices.'),
    ...refusals(...scoped, 'validation_error', 'invalid_cursor'),
  },
})

export const audioVoicesDetail = detail('Voices', 'listSpeechVoices', 'List voices (no key needed)', {
  description:
    'For pickers in user interfaces: needs no key, and any web page may read it. A key that is sent must be valid ' +
    'and have the scope `voices` or `tts`; then your own voices are listed too. Takes the parameters of `/v1/voices`.',
  security: openOrBearer,
  parameters: listParameters,
  responses: {
    200: ok('VoiceList', 'The voices.'),
    ...refusals(...publicCodes, 'insufficient_scope', 'validation_error', 'invalid_cursor'),
  },
})

export const voiceDetail = detail('Voices', 'retrieveVoice', 'Get a voice', {
  description: `Requires the scope \`voices\`. ${unseen}`,
  parameters: [idParameter],
  responses: { 200: ok('Voice', 'The voice.'), ...refusals(...scoped, 'voice_not_found', 'validation_error') },
})

const changing: readonly ErrorCode[] = [...scoped, 'voice_not_found', 'voice_not_owned', 'validation_error']

export const updateVoiceDetail = detail('Voices', 'updateVoice', 'Update a voice', {
  description:
    'For its owner; fields that are not named stay. Also accepts a form with the same fields. Only administrators ' +
    `may make a voice public; its owner may make it private again. ${unseen}`,
  parameters: [idParameter],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: schemaRef('VoiceChange'),
        example: { name: 'Grandma', labels: { accent: 'scottish' }, aliases: ['nova'] },
      },
      'multipart/form-data': { schema: schemaRef('VoiceChangeForm') },
    },
  },
  responses: {
    200: ok('Voice', 'The updated voice.'),
    ...refusals(...changing, 'admin_required', 'request_timeout', 'request_too_large'),
  },
})

export const deleteVoiceDetail = detail('Voices', 'deleteVoice', 'Delete a voice', {
  description:
    'For its owner. Clip, reference and preview are removed too; agents that use it lose it and stay. A clone that ' +
    `is still being made is cancelled and refunded. ${unseen}`,
  parameters: [idParameter],
  responses: { 204: { description: 'It is deleted.', headers: { ...requestId, ...rates } }, ...refusals(...changing) },
})

const cloneCodes: readonly ErrorCode[] = [
  'invalid_idempotency_key',
  ...scoped,
  'insufficient_balance',
  'admin_required',
  'voice_limit_reached',
  'duplicate_request',
  'validation_error',
  'missing_file',
  'too_many_files',
  'clip_undecodable',
  'clip_too_short',
  'clip_too_long',
  'clip_silent',
  'consent_not_found',
  'consent_required',
  ...engineCodes,
]

export const cloneDetail = detail('Voices', 'createVoice', 'Clone a voice from one clip', {
  description:
    'Requires the scope `voices`. The clip is checked before anything is charged; then the answer comes at once, and ' +
    'the voice is made in the background: it is `processing`, then `ready` or `failed`. Unless it becomes ready, the ' +
    'charge is refunded in full. `/v1/voices/clone` and `/v1/voices/add` do the same.',
  parameters: [idempotencyKey],
  requestBody: { required: true, content: { 'multipart/form-data': { schema: schemaRef('CloneRequest') } } },
  responses: {
    201: {
      ...ok('NewVoice', 'The voice is being made.'),
      headers: { 'X-Request-Id': headerRef('OperationId'), Location: headerRef('Location'), ...rates },
    },
    ...refusals(...cloneCodes),
  },
})

export const remakeDetail = detail('Voices', 'remakeVoice', 'Make a voice again from its clip', {
  description:
    'For its owner, when the model of the voice was removed, so that it is not `usable`: makes it again, free of ' +
    'charge, from the clip that was kept, with the model that clones now. Id, aliases and preview address stay. The ' +
    'answer is the operation, of type `clone`; once it has completed, the voice is `usable`. If it fails, the voice ' +
    `is as it was. ${unseen}`,
  parameters: [idParameter],
  responses: {
    202: {
      ...ok('Operation', 'The voice is being made again.'),
      headers: { 'X-Request-Id': headerRef('OperationId'), Location: headerRef('OperationLocation'), ...rates },
    },
    ...refusals(
      ...scoped,
      'voice_not_found',
      'voice_not_owned',
      'voice_not_ready',
      'voice_unusable',
      'validation_error',
      ...engineCodes,
    ),
  },
})

export const createAudioVoiceDetail = detail('Voices', 'createSpeechVoice', 'Clone a voice, as OpenAI’s API does it', {
  description:
    'The same as `POST /v1/voices`, answered once the voice is ready, so that it can be spoken with at once. After a ' +
    'minute the answer comes anyway; then `status` is `processing`. `type` is `audio_sample`. `consent` is the ' +
    'id of a voice consent, or a statement in words.',
  parameters: [idempotencyKey],
  requestBody: { required: true, content: { 'multipart/form-data': { schema: schemaRef('CloneRequest') } } },
  responses: {
    200: {
      ...ok('AudioVoice', 'The voice.'),
      headers: { 'X-Request-Id': headerRef('OperationId'), Location: headerRef('Location'), ...rates },
    },
    ...refusals(...cloneCodes, 'unsupported_value', 'clip_refused', 'generation_failed', 'operation_cancelled'),
  },
})

export const deleteAudioVoiceDetail = detail('Voices', 'deleteSpeechVoice', 'Delete a voice, as OpenAI’s API does it', {
  description: `The same as \`DELETE /v1/voices/{voice_id}\`, with OpenAI's answer. ${unseen}`,
  parameters: [idParameter],
  responses: { 200: ok('AudioVoiceDeleted', 'It is deleted.'), ...refusals(...changing) },
})

const validators: Headers = {
  ...requestId,
  ETag: headerRef('ETag'),
  'Last-Modified': headerRef('LastModified'),
  'Accept-Ranges': headerRef('AcceptRanges'),
}

const files = (types: readonly string[]): OpenAPIV3_1.ResponsesObject => {
  const content = binaryOf(types)
  return {
    200: { description: 'All of it.', headers: validators, content },
    206: {
      description: 'The requested range.',
      headers: { ...validators, 'Content-Range': headerRef('ContentRange') },
      content,
    },
    304: { description: 'Unchanged.', headers: validators },
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
  'A public voice needs no credential and ignores any, so that a bare element of any web page can load it. Your own ' +
  'voices need a key of your account, with any scope. Anything else is 401 without a key and 404 with one.'

export const previewDetail = detail('Voices', 'previewVoice', 'Get a preview of a voice', {
  description: `A few seconds of speech, 24 kHz mono, with support for ranges. ${access}`,
  security: openOrBearer,
  parameters: [idParameter, ...parametersOf(previewFields)],
  responses: files([audioTypes.wav, audioTypes.mp3, audioTypes.opus]),
})

export const pictureDetail = (format: 'png' | 'webp') =>
  detail(
    'Voices',
    `pictureVoice${format === 'png' ? 'Png' : 'Webp'}`,
    `Get an image of a voice (${format.toUpperCase()})`,
    {
      description: `Waveform over mel spectrogram of its preview, on a transparent background. ${access}`,
      security: openOrBearer,
      parameters: [idParameter, ...parametersOf(pictureFields)],
      responses: files([pictureTypes[format]]),
    },
  )
