/** The records of voice consents, each with an example. */
import * as is from './shapes.ts'

export const exampleConsentId = 'cons_01KAJ5ZV6C7D8E9F0G1H2J3K4M'

const consent = is.record({
  id: is.text(exampleConsentId),
  object: is.constant('audio.voice_consent'),
  name: is.text('Ada, May 2026'),
  language: is.text('en-US', 'BCP-47, of what is said.'),
  created_at: is.unixS(1763712000),
})

export const consentRecords = {
  Consent: consent,
  ConsentList: is.listOf(is.named('Consent', consent), is.page(exampleConsentId)),
  ConsentDeleted: is.record({
    id: is.text(exampleConsentId),
    object: is.constant('audio.voice_consent'),
    deleted: { schema: { type: 'boolean', const: true } as object, example: true },
  }),
}
