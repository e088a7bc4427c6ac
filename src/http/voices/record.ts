/**
 * A voice as the API shows it (docs/api.md 4.2): the fields of three ecosystems at once, and nothing about other
 * owners.
 */
import type { Caller } from '../../domain/account.ts'
import { type KnownVoice, owns, type Voice, voiceIdPattern } from '../../domain/voice.ts'
import type { Exchange } from '../exchange.ts'
import { invalidInput } from '../invalid.ts'

/** @param origin of this server as the client reaches it, without a trailing slash */
export function voiceRecord(voice: KnownVoice, caller: Caller | null, origin: string) {
  const isOwner = owns(voice, caller)
  const createdAt = seconds(voice.createdAtMs)
  return {
    object: 'audio.voice',
    voice_id: voice.id,
    id: voice.id,
    name: voice.name,
    description: voice.description,
    labels: voice.labels,
    category: voice.category,
    status: voice.status,
    usable: voice.isUsable,
    error: voice.error,
    language: voice.language,
    is_owner: isOwner,
    is_public: voice.isPublic,
    access: voice.isPublic ? 'public' : 'private',
    preview_url: voice.status === 'ready' ? `${origin}/v1/voices/${voice.id}/preview` : null,
    model: voice.model,
    fidelity: voice.fidelity,
    aliases: isOwner ? voice.aliases : [],
    created_at: createdAt,
    created_at_unix: createdAt,
    updated_at: seconds(voice.updatedAtMs),
    samples: isOwner ? samplesOf(voice) : [],
    operation_id: isOwner ? voice.operationId : null,
  }
}

function samplesOf({ id, clip }: Voice) {
  if (clip === null) return []
  return [
    {
      sample_id: id,
      file_name: clip.fileName,
      mime_type: clip.mimeType,
      size_bytes: clip.sizeBytes,
      duration_secs: clip.durationMs / 1000,
      hash: clip.hash,
    },
  ]
}

/** The part of the path after `voices`. @throws MynaError `validation_error` */
export function voiceIdOf({ url }: Exchange): string {
  const parts = url.pathname.split('/')
  const raw = parts[parts.indexOf('voices') + 1] ?? ''
  let id = ''
  try {
    id = decodeURIComponent(raw)
  } catch {
    // Refused below: an empty id does not match either.
  }
  if (voiceIdPattern.test(id)) return id
  const msg = `string should match '${voiceIdPattern.source}'`
  throw invalidInput(['path', 'voice_id'], msg, 'string_pattern_mismatch')
}

export const seconds = (ms: number): number => Math.floor(ms / 1000)
