/** The routes of voice consents in the API's document, and their records. */
import type { ErrorCode } from '../../domain/error.ts'
import { consentQueryFields } from '../voices/consent-fields.ts'
import { parametersOf } from '../fields/field.ts'
import { engineCodes } from './audio.ts'
import { exampleConsentId } from './consent-records.ts'
import { detail, ok, pathId, scoped } from './parts.ts'
import { refusals } from './refusals.ts'
import { schemaRef } from './shapes.ts'

const idParameter = pathId('consent_id', 'A consent’s id.', exampleConsentId)
const known: readonly ErrorCode[] = [...scoped, 'consent_not_found']

export const consentsDetail = detail('Voices', 'listVoiceConsents', 'List voice consents', {
  description:
    'Your own, the newest first. Requires the scope `voices`. The next page begins behind the last id of this one: ' +
    'give it as `after`.',
  parameters: parametersOf(consentQueryFields),
  responses: { 200: ok('ConsentList', 'The consents.'), ...refusals(...scoped, 'validation_error') },
})

export const createConsentDetail = detail('Voices', 'createVoiceConsent', 'Upload a voice consent', {
  description:
    'A recording in which a person agrees that their voice is cloned. It is checked like a clip and kept as it came; ' +
    'give its id as `consent` when you clone a voice. An account may own as many consents as voices. Nothing is ' +
    'charged. Requires the scope `voices`.',
  requestBody: { required: true, content: { 'multipart/form-data': { schema: schemaRef('ConsentRequest') } } },
  responses: {
    200: ok('Consent', 'The consent.'),
    ...refusals(
      ...scoped,
      'voice_limit_reached',
      'validation_error',
      'missing_file',
      'too_many_files',
      'clip_undecodable',
      'clip_too_short',
      'clip_too_long',
      'clip_silent',
      ...engineCodes,
    ),
  },
})

export const consentDetail = detail('Voices', 'retrieveVoiceConsent', 'Get a voice consent', {
  description: 'Requires the scope `voices`.',
  parameters: [idParameter],
  responses: { 200: ok('Consent', 'The consent.'), ...refusals(...known) },
})

export const updateConsentDetail = detail('Voices', 'updateVoiceConsent', 'Rename a voice consent', {
  description: 'The recording and its language never change.',
  parameters: [idParameter],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: schemaRef('ConsentChange'), example: { name: 'Ada, May 2026' } } },
  },
  responses: {
    200: ok('Consent', 'The consent under its new name.'),
    ...refusals(...known, 'validation_error', 'invalid_json', 'unsupported_media_type', 'request_too_large'),
  },
})

export const deleteConsentDetail = detail('Voices', 'deleteVoiceConsent', 'Delete a voice consent', {
  description:
    'Its recording is removed, too. Voices that were cloned with it stay, and so does its id in their records.',
  parameters: [idParameter],
  responses: { 200: ok('ConsentDeleted', 'It is deleted.'), ...refusals(...known) },
})
