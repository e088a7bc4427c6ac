/** The routes of voices in the API's document (docs/api.md 4.2 to 4.7). */
import type { ErrorCode } from '../../domain/error.ts'
import { audioTypes, pictureTypes } from '../content-types.ts'
import { pictureFields, previewFields, voiceQueryFields } from '../voices/query.ts'
import { exampleVoiceId } from '../voices/record.ts'
import { begun, binaryOf, type Description, detail, formBody, jsonBody, ok, pathId, rates, requestId } from './parts.ts'
import { clipCodes, engineCodes, headerRef } from './refusals.ts'
import { schemaRef } from './shapes.ts'

const voice = pathId(
  'voice_id',
  'A voice’s id: letters, digits, `_`, `.` and `-`, at most 128.',
  exampleVoiceId,
  'voice_not_found',
  'validation_error',
)
const unseen =
  'A voice that is neither yours nor public is answered exactly like one that does not exist: 404 `voice_not_found`.'

export const voicesDetail = detail('Voices', 'listVoices', 'List voices', {
  access: 'voices',
  about: 'Your own voices in every status, and public ones. Unknown parameters are ignored.',
  query: voiceQueryFields,
  answers: { 200: ok('VoiceList', 'The voices.') },
  codes: ['invalid_cursor'],
})

export const audioVoicesDetail = detail('Voices', 'listSpeechVoices', 'List voices (no key needed)', {
  access: 'public',
  about:
    'For pickers in user interfaces: needs no key, and any web page may read it. A key that is sent must be valid ' +
    'and have the scope `voices` or `tts`; then your own voices are listed too. Takes the parameters of `/v1/voices`.',
  query: voiceQueryFields,
  answers: { 200: ok('VoiceList', 'The voices.') },
  codes: ['invalid_cursor', 'insufficient_scope'],
})

export const voiceDetail = detail('Voices', 'retrieveVoice', 'Get a voice', {
  access: 'voices',
  about: unseen,
  path: voice,
  answers: { 200: ok('Voice', 'The voice.') },
})

export const updateVoiceDetail = detail('Voices', 'updateVoice', 'Update a voice', {
  access: 'voices',
  about:
    'For its owner; fields that are not named stay. Also accepts a form with the same fields. Only administrators ' +
    `may make a voice public; its owner may make it private again. ${unseen}`,
  path: voice,
  body: jsonBody({
    schema: schemaRef('VoiceChange'),
    example: { name: 'Grandma', labels: { accent: 'scottish' }, aliases: ['nova'] },
  }),
  answers: { 200: ok('Voice', 'The updated voice.') },
  codes: ['voice_not_owned', 'admin_required', 'request_timeout', 'request_too_large'],
})

export const deleteVoiceDetail = detail('Voices', 'deleteVoice', 'Delete a voice', {
  access: 'voices',
  about:
    'For its owner. Clip, reference and preview are removed too; agents that use it lose it and stay. A clone that ' +
    `is still being made is cancelled and refunded. ${unseen}`,
  path: voice,
  answers: { 204: { description: 'It is deleted.', headers: { ...requestId, ...rates } } },
  codes: ['voice_not_owned'],
})

const cloneCodes: readonly ErrorCode[] = [
  'insufficient_balance',
  'admin_required',
  'voice_limit_reached',
  ...clipCodes,
  'consent_not_found',
  'consent_required',
  ...engineCodes,
]

export const cloneDetail = detail('Voices', 'createVoice', 'Clone a voice from one clip', {
  access: 'voices',
  about:
    'The clip is checked before anything is charged; then the answer comes at once, and the voice is made in the ' +
    'background: it is `processing`, then `ready` or `failed`. Unless it becomes ready, the charge is refunded in ' +
    'full. `/v1/voices/clone` and `/v1/voices/add` do the same.',
  idempotent: true,
  body: formBody('CloneRequest'),
  answers: { 201: begun('ClonedVoice', 'The voice is being made.', 'Location') },
  codes: cloneCodes,
})

export const remakeDetail = detail('Voices', 'remakeVoice', 'Make a voice again from its clip', {
  access: 'voices',
  about:
    'For its owner, when the model of the voice was removed, so that it is not `usable`: makes it again, free of ' +
    'charge, from the clip that was kept, with the model that clones now. Id, aliases and preview address stay. The ' +
    'answer is the operation, of type `clone`; once it has completed, the voice is `usable`. If it fails, the voice ' +
    `is as it was. ${unseen}`,
  path: voice,
  answers: { 202: begun('Operation', 'The voice is being made again.', 'OperationLocation') },
  codes: ['voice_not_owned', 'voice_not_ready', 'voice_unusable', ...engineCodes],
})

export const createAudioVoiceDetail = detail('Voices', 'createSpeechVoice', 'Clone a voice, as OpenAI’s API does it', {
  access: 'voices',
  about:
    'The same as `POST /v1/voices`, answered once the voice is ready, so that it can be spoken with at once. After a ' +
    'minute the answer comes anyway; then `status` is `processing`. `type` is `audio_sample`. `consent` is the ' +
    'id of a voice consent, or a statement in words.',
  idempotent: true,
  body: formBody('CloneRequest'),
  answers: { 200: begun('AudioVoice', 'The voice.', 'Location') },
  codes: [...cloneCodes, 'unsupported_value', 'clip_refused', 'operation_cancelled'],
})

export const deleteAudioVoiceDetail = detail('Voices', 'deleteSpeechVoice', 'Delete a voice, as OpenAI’s API does it', {
  access: 'voices',
  about: `The same as \`DELETE /v1/voices/{voice_id}\`, with OpenAI's answer. ${unseen}`,
  path: voice,
  answers: { 200: ok('AudioVoiceDeleted', 'It is deleted.') },
  codes: ['voice_not_owned'],
})

const validators = {
  ...requestId,
  ETag: headerRef('ETag'),
  'Last-Modified': headerRef('LastModified'),
  'Accept-Ranges': headerRef('AcceptRanges'),
}

/** Of a file made from a voice. */
const file = (about: string, types: readonly string[]): Omit<Description, 'query'> => ({
  access: 'public',
  about:
    `${about} A public voice needs no credential and ignores any, so that a bare element of any web page can load ` +
    'it. Your own voices need a key of your account, with any scope. Anything else is 401 without a key and 404 ' +
    'with one.',
  path: voice,
  answers: {
    200: { description: 'All of it.', headers: validators, content: binaryOf(types) },
    206: {
      description: 'The requested range.',
      headers: { ...validators, 'Content-Range': headerRef('ContentRange') },
      content: binaryOf(types),
    },
    304: { description: 'Unchanged.', headers: validators },
  },
  codes: [
    'missing_api_key',
    'preview_not_available',
    'voice_not_ready',
    'range_not_satisfiable',
    'generation_failed',
    'engine_overloaded',
    'engine_unavailable',
    'model_unavailable',
  ],
})

export const previewDetail = detail('Voices', 'previewVoice', 'Get a preview of a voice', {
  ...file('A few seconds of speech, 24 kHz mono, with support for ranges.', [
    audioTypes.wav,
    audioTypes.mp3,
    audioTypes.opus,
  ]),
  query: previewFields,
})

const pictures = { png: 'pictureVoicePng', webp: 'pictureVoiceWebp' } as const

export const pictureDetail = (format: keyof typeof pictures) =>
  detail('Voices', pictures[format], `Get an image of a voice (${format.toUpperCase()})`, {
    ...file('Waveform over mel spectrogram of its preview, on a transparent background.', [pictureTypes[format]]),
    query: pictureFields,
  })
