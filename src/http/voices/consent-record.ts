/** A voice consent as the API shows it, in the words of OpenAI's API. */
import type { Consent } from '../../domain/consent.ts'
import * as is from '../openapi/shapes.ts'
import { from } from '../openapi/shapes.ts'
import { deletedRecord } from './record.ts'

export const exampleConsentId = 'cons_01KAJ5ZV6C7D8E9F0G1H2J3K4M'

export const consentRecord = is.answer<Consent>('', {
  id: from(is.text(exampleConsentId), 'id'),
  object: is.constant('audio.voice_consent'),
  name: from(is.text('Ada, May 2026'), 'name'),
  language: from(is.text('en-US', 'BCP-47, of what is said.'), 'language'),
  created_at: is.unixS(1763712000, 'createdAtMs'),
})

export const consentDeleted = deletedRecord('audio.voice_consent', exampleConsentId)
