/**
 * Voices: what a record contains and who may see, change and use it. A voice belongs to its owner or is public; for all
 * others it does not exist. Preset voices are those of installed models: public and without an owner.
 */
import type { Caller } from './account.ts'

export const voiceStatuses = ['processing', 'ready', 'failed'] as const
export type VoiceStatus = (typeof voiceStatuses)[number]
export type Fidelity = 'native' | 'full' | 'approximate'

export const voiceIdPattern = /^[A-Za-z0-9_.-]{1,128}$/

/** The clip that a voice was cloned from, as its owner may see it. */
export interface VoiceClip {
  fileName: string
  /** As detected, not as declared. */
  mimeType: string
  sizeBytes: number
  durationMs: number
  /** SHA-256 in hex. */
  hash: string
}

export interface Voice {
  id: string
  /** null: a preset, without an owner. */
  ownerId: string | null
  isPublic: boolean
  name: string
  description: string | null
  labels: Readonly<Record<string, string>>
  /** BCP-47. */
  language: string | null
  category: 'cloned' | 'premade'
  /** The card of the model that it speaks with. */
  model: string
  fidelity: Fidelity
  status: VoiceStatus
  error: { code: string; message: string } | null
  /** Names for it in the owner's requests. */
  aliases: readonly string[]
  clip: VoiceClip | null
  /** The clone that makes or made it; null once that record is gone. */
  operationId: string | null
  createdAtMs: number
  updatedAtMs: number
}

/** As its caller may want to know it. */
export interface KnownVoice extends Voice {
  /** It can be spoken with now. */
  isUsable: boolean
}

/** @param caller null: unknown */
export const canSee = (voice: Voice, caller: Caller | null): boolean =>
  (voice.isPublic && voice.status === 'ready') || owns(voice, caller)

export const owns = (voice: Voice, caller: Caller | null): boolean =>
  caller !== null && voice.ownerId !== null && voice.ownerId === caller.account.id
