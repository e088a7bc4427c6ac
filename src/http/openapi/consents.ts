/** The routes of voice consents in the API's document. */
import { consentQueryFields } from '../voices/consent-fields.ts'
import { exampleConsentId } from '../voices/consent-record.ts'
import { detail, formBody, jsonBody, ok, pathId } from './parts.ts'
import { clipCodes, engineCodes } from './refusals.ts'
import { schemaRef } from './shapes.ts'

const consent = pathId('consent_id', 'A consent’s id.', exampleConsentId, 'consent_not_found')

export const consentsDetail = detail('Voices', 'listVoiceConsents', 'List voice consents', {
  access: 'voices',
  about: 'Your own, the newest first. The next page begins behind the last id of this one: give it as `after`.',
  query: consentQueryFields,
  answers: { 200: ok('ConsentList', 'The consents.') },
})

export const createConsentDetail = detail('Voices', 'createVoiceConsent', 'Upload a voice consent', {
  access: 'voices',
  about:
    'A recording in which a person agrees that their voice is cloned. It is checked like a clip and kept as it came; ' +
    'give its id as `consent` when you clone a voice. An account may own as many consents as voices. Nothing is ' +
    'charged.',
  body: formBody('ConsentRequest'),
  answers: { 200: ok('Consent', 'The consent.') },
  codes: ['voice_limit_reached', ...clipCodes, ...engineCodes],
})

export const consentDetail = detail('Voices', 'retrieveVoiceConsent', 'Get a voice consent', {
  access: 'voices',
  path: consent,
  answers: { 200: ok('Consent', 'The consent.') },
})

export const updateConsentDetail = detail('Voices', 'updateVoiceConsent', 'Rename a voice consent', {
  access: 'voices',
  about: 'The recording and its language never change.',
  path: consent,
  body: jsonBody({ schema: schemaRef('ConsentChange'), example: { name: 'Ada, May 2026' } }),
  answers: { 200: ok('Consent', 'The consent under its new name.') },
  codes: ['validation_error', 'invalid_json', 'unsupported_media_type', 'request_too_large'],
})

export const deleteConsentDetail = detail('Voices', 'deleteVoiceConsent', 'Delete a voice consent', {
  access: 'voices',
  about: 'Its recording is removed, too. Voices that were cloned with it stay, and so does its id in their records.',
  path: consent,
  answers: { 200: ok('ConsentDeleted', 'It is deleted.') },
})
