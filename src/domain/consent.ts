/**
 * Consents: a recording in which a person agrees that their voice is cloned. It belongs to the account that sent it;
 * for all others it does not exist.
 */
import type { VoiceClip } from './voice.ts'

/** What clients send as an id is one only in this form; a consent in words never has it. */
export const consentIdPattern = /^cons_[0-9A-Z]{26}$/

/** Whether a `consent` names a recording; anything else is a statement in words. */
export const namesConsent = (given: string): boolean => given.startsWith('cons_')

export interface Consent {
  id: string
  /** The label by which its owner knows it. */
  name: string
  /** BCP-47, of what is said. */
  language: string
  recording: VoiceClip
  createdAtMs: number
}
