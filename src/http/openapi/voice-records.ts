/** The records of voices, each with an example (docs/api.md 4.2 to 4.5). */
import { exampleOperationId } from '../error-codes.ts'
import { fault } from './records.ts'
import * as is from './shapes.ts'

export const exampleVoiceId = 'voice_01KAJ5ZV5B6C7D8E9F0G1H2J3K'

const sample = is.record(
  {
    sample_id: is.text(exampleVoiceId),
    file_name: is.text('grandmother.m4a'),
    mime_type: is.text('audio/mp4', 'As detected, whatever was declared.'),
    size_bytes: is.count(161204),
    duration_secs: is.number(11.52),
    hash: is.text('9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', 'SHA-256 in hex.'),
  },
  'The clip that the voice was cloned from.',
)

const voice = is.record(
  {
    object: is.constant('audio.voice'),
    voice_id: is.matching('^[A-Za-z0-9_.-]{1,128}$', exampleVoiceId),
    id: is.text(exampleVoiceId, 'The same as `voice_id`.'),
    name: is.text('Grandmother'),
    description: is.textOrNull('Reads slowly and warmly.'),
    labels: {
      schema: { type: 'object', additionalProperties: is.text().schema },
      example: { accent: 'scottish', age: 'old' },
    },
    category: is.oneOf(['premade', 'cloned'], 'cloned'),
    status: is.oneOf(['processing', 'ready', 'failed'], 'ready'),
    usable: is.flag(true, 'It can be spoken with now; not so while its model is missing.'),
    error: fault,
    language: is.textOrNull('en-GB', 'BCP-47.'),
    is_owner: is.flag(true),
    is_public: is.flag(false),
    access: is.oneOf(['public', 'private'], 'private'),
    preview_url: is.textOrNull(
      `https://voice.example/v1/voices/${exampleVoiceId}/preview`,
      'Absolute; `null` until it is ready.',
    ),
    model: is.text('hibari', 'The model that it speaks with.'),
    fidelity: is.oneOf(['native', 'full', 'approximate'], 'approximate', 'How close it is to its source.'),
    aliases: is.list(is.text('nova'), 'Names for it in your requests. Own voices only; otherwise empty.'),
    created_at: is.unixS(1763712000),
    created_at_unix: is.unixS(1763712000, 'The same as `created_at`.'),
    updated_at: is.unixS(1763712004),
    samples: is.list(sample, 'Own clones only; otherwise empty.'),
    operation_id: is.textOrNull(exampleOperationId, 'Own clones only, while the record of the operation exists.'),
  },
  'A voice. Clients ignore fields that they do not know.',
)
const voiceRef = is.named('Voice', voice)

export const voiceRecords = {
  Voice: voice,
  VoiceList: is.listOf(
    voiceRef,
    { ...is.page(exampleVoiceId), total_count: is.count(1), voices: is.list(voiceRef, 'The same as `data`.') },
    ['voices'],
  ),
  AudioVoice: is.record({
    id: is.text(exampleVoiceId),
    object: is.constant('audio.voice'),
    name: is.text('Grandmother'),
    created_at: is.unixS(1763712000),
    type: is.constant('audio_sample'),
    status: is.oneOf(['processing', 'ready'], 'ready', 'Not in OpenAI’s API.'),
  }),
  AudioVoiceDeleted: is.record({
    id: is.text(exampleVoiceId),
    object: is.constant('audio.voice.deleted'),
    deleted: { schema: { type: 'boolean', const: true } as object, example: true },
  }),
  NewVoice: is.record({
    voice_id: is.text(exampleVoiceId),
    id: is.text(exampleVoiceId, 'The same as `voice_id`.'),
    object: is.constant('audio.voice'),
    name: is.text('Grandmother'),
    status: is.constant('processing'),
    operation_id: is.text(exampleOperationId),
    created_at: is.unixS(1763712000),
    requires_verification: { schema: { type: 'boolean', const: false } as object, example: false },
  }),
}
