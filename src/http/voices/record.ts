/**
 * A voice as the API shows it (docs/api.md 4.2 to 4.5): the fields of three ecosystems at once, and nothing about other
 * owners.
 */
import type { Caller } from '../../domain/account.ts'
import { type KnownVoice, owns, type VoiceClip, voiceIdPattern, voiceStatuses } from '../../domain/voice.ts'
import type { NewClone } from '../../service/clone.ts'
import { exampleOperationId } from '../error-codes.ts'
import type { Exchange } from '../exchange.ts'
import { invalidInput } from '../invalid.ts'
import * as is from '../openapi/shapes.ts'
import { from } from '../openapi/shapes.ts'
import { fault } from '../operations/record.ts'

export const exampleVoiceId = 'voice_01KAJ5ZV5B6C7D8E9F0G1H2J3K'

const sample = is.answer<VoiceClip & { id: string }>('The clip that the voice was cloned from.', {
  sample_id: from(is.text(exampleVoiceId), 'id'),
  file_name: from(is.text('grandmother.m4a'), 'fileName'),
  mime_type: from(is.text('audio/mp4', 'As detected, whatever was declared.'), 'mimeType'),
  size_bytes: from(is.count(161204), 'sizeBytes'),
  duration_secs: from(is.number(11.52), ({ durationMs }) => durationMs / 1000),
  hash: from(is.text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'SHA-256 in hex.'), 'hash'),
})

interface Shown extends KnownVoice {
  isOwner: boolean
  /** Of this server as the client reaches it, without a trailing slash. */
  origin: string
}

const labels: is.Shape<KnownVoice['labels']> = {
  schema: { type: 'object', additionalProperties: is.text().schema },
  example: { accent: 'scottish', age: 'old' },
}

export const voiceAnswer = is.answer<Shown>('A voice. Clients ignore fields that they do not know.', {
  object: is.constant('audio.voice'),
  voice_id: from(is.matching(voiceIdPattern.source, exampleVoiceId), 'id'),
  id: from(is.text(exampleVoiceId, 'The same as `voice_id`.'), 'id'),
  name: from(is.text('Grandmother'), 'name'),
  description: from(is.textOrNull('Reads slowly and warmly.'), 'description'),
  labels: from(labels, 'labels'),
  category: from(is.oneOf(['premade', 'cloned'], 'cloned'), 'category'),
  status: from(is.oneOf(voiceStatuses, 'ready'), 'status'),
  usable: from(is.flag(true, 'It can be spoken with now; not so while its model is missing.'), 'isUsable'),
  error: from(fault, 'error'),
  language: from(is.textOrNull('en-GB', 'BCP-47.'), 'language'),
  is_owner: from(is.flag(true), 'isOwner'),
  is_public: from(is.flag(false), 'isPublic'),
  access: from(is.oneOf(['public', 'private'], 'private'), ({ isPublic }) => (isPublic ? 'public' : 'private')),
  preview_url: from(
    is.textOrNull(`https://voice.example/v1/voices/${exampleVoiceId}/preview`, 'Absolute; `null` until it is ready.'),
    ({ id, status, origin }) => (status === 'ready' ? `${origin}/v1/voices/${id}/preview` : null),
  ),
  model: from(is.text('hibari', 'The model that it speaks with.'), 'model'),
  fidelity: from(
    is.oneOf(['native', 'full', 'approximate'], 'approximate', 'How close it is to its source.'),
    'fidelity',
  ),
  aliases: from(
    is.list(is.text('nova'), 'Names for it in your requests. Own voices only; otherwise empty.'),
    ({ isOwner, aliases }) => (isOwner ? aliases : []),
  ),
  created_at: is.unixS(1763712000, 'createdAtMs'),
  created_at_unix: is.unixS(1763712000, 'createdAtMs', 'The same as `created_at`.'),
  updated_at: is.unixS(1763712004, 'updatedAtMs'),
  samples: from(is.list(sample, 'Own clones only; otherwise empty.'), ({ id, isOwner, clip }) =>
    isOwner && clip !== null ? [sample.of({ ...clip, id })] : [],
  ),
  operation_id: from(
    is.textOrNull(exampleOperationId, 'Own clones only, while the record of the operation exists.'),
    ({ isOwner, operationId }) => (isOwner ? operationId : null),
  ),
})

/** @param origin of this server as the client reaches it, without a trailing slash */
export const voiceRecord = (voice: KnownVoice, caller: Caller | null, origin: string): is.Json =>
  voiceAnswer.of({ ...voice, isOwner: owns(voice, caller), origin })

export const newVoiceRecord = is.answer<NewClone>('', {
  voice_id: from(is.text(exampleVoiceId), 'voiceId'),
  id: from(is.text(exampleVoiceId, 'The same as `voice_id`.'), 'voiceId'),
  object: is.constant('audio.voice'),
  name: from(is.text('Grandmother'), 'name'),
  status: is.constant('processing'),
  operation_id: from(is.text(exampleOperationId), ({ operation }) => operation.id),
  created_at: is.unixS(1763712000, ({ operation }) => operation.createdAtMs),
  requires_verification: is.fixed(false),
})

/** In the words of OpenAI's API, whose voices have no status. */
export const audioVoiceRecord = is.answer<NewClone & { isReady: boolean }>('', {
  id: from(is.text(exampleVoiceId), 'voiceId'),
  object: is.constant('audio.voice'),
  name: from(is.text('Grandmother'), 'name'),
  created_at: is.unixS(1763712000, ({ operation }) => operation.createdAtMs),
  type: is.constant('audio_sample'),
  status: from(is.oneOf(['processing', 'ready'], 'ready', 'Not in OpenAI’s API.'), ({ isReady }) =>
    isReady ? 'ready' : 'processing',
  ),
})

/** @param id of an example */
export const deletedRecord = (object: string, example: string) =>
  is.answer<string>('', {
    id: from(is.text(example), (id: string) => id),
    object: is.constant(object),
    deleted: is.fixed(true),
  })

export const audioVoiceDeleted = deletedRecord('audio.voice.deleted', exampleVoiceId)

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
