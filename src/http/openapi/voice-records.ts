/** Voices and what is sent to make and change them, as the API's document shows them (docs/api.md 4.2 to 4.5). */
import { type Schema, schemaRef } from './refusals.ts'
import { count, fault, listOf, page, record, text, textOrNull, unixS } from './records.ts'

const sample: Schema = record(
  {
    sample_id: text,
    file_name: text,
    mime_type: { type: 'string', description: 'As it was found to be, whatever was declared.' },
    size_bytes: count,
    duration_secs: { type: 'number' },
    hash: { type: 'string', description: 'SHA-256 in hex.' },
  },
  'The clip that the voice was cloned from.',
)

const voice: Schema = record(
  {
    object: { type: 'string', const: 'audio.voice' },
    voice_id: { type: 'string', pattern: '^[A-Za-z0-9_.-]{1,128}$' },
    id: { type: 'string', description: 'The same as `voice_id`.' },
    name: text,
    description: textOrNull,
    labels: { type: 'object', additionalProperties: text },
    category: { type: 'string', enum: ['premade', 'cloned'] },
    status: { type: 'string', enum: ['processing', 'ready', 'failed'] },
    error: fault,
    language: { type: ['string', 'null'], description: 'BCP-47.' },
    is_owner: { type: 'boolean' },
    is_public: { type: 'boolean' },
    access: { type: 'string', enum: ['public', 'private'] },
    preview_url: { ...textOrNull, description: 'Absolute; `null` until it is ready.' },
    model: { type: 'string', description: 'The model that it speaks with.' },
    fidelity: { type: 'string', enum: ['native', 'full', 'approximate'], description: 'How true it is to its source.' },
    aliases: {
      type: 'array',
      items: text,
      description: 'Names that stand for it in your requests. Of own voices; otherwise empty.',
    },
    created_at: unixS,
    created_at_unix: { ...unixS, description: 'The same as `created_at`.' },
    updated_at: unixS,
    samples: { type: 'array', items: sample, description: 'Of own clones; otherwise empty.' },
    operation_id: { ...textOrNull, description: 'Of own clones, while the operation’s record lives.' },
  },
  'A voice. Clients ignore fields that they do not know.',
)

const described: Record<string, Schema> = {
  name: { type: 'string', minLength: 1, maxLength: 100, examples: ['Grandmother'] },
  description: { type: ['string', 'null'], maxLength: 500, examples: ['Reads slowly and warmly.'] },
  language: { type: ['string', 'null'], description: 'BCP-47.', examples: ['en-GB'] },
}

const change: Schema = {
  type: 'object',
  minProperties: 1,
  description: 'What is to be different; `null` clears.',
  properties: {
    ...described,
    labels: {
      type: ['object', 'null'],
      maxProperties: 20,
      additionalProperties: { type: 'string', maxLength: 256 },
      description: 'Replaces all labels.',
    },
    aliases: {
      type: ['array', 'null'],
      maxItems: 20,
      items: { type: 'string', minLength: 1, maxLength: 100 },
      description: 'Replaces all aliases. One name stands for one voice of an account, whatever the case.',
    },
  },
}

const inForms: Record<string, Schema> = {
  ...described,
  labels: {
    type: 'string',
    examples: ['{"accent":"scottish"}'],
    description: 'A JSON object of strings; or a field `labels[accent]` for each.',
  },
  aliases: {
    type: 'string',
    examples: ['["nova"]'],
    description: 'A JSON array of strings; or a field `aliases[]` for each.',
  },
}

const cloneRequest: Schema = {
  type: 'object',
  required: ['file'],
  description:
    'Exactly one file; its field may also be called `clip`, `files`, `audio_sample`, `audio`, `audio_file`, `sample` ' +
    'or `reference`. Fields that are not listed are ignored.',
  properties: {
    file: {
      type: 'string',
      format: 'binary',
      description:
        'The recording: 3 to 60 seconds and at most 10 MiB unless the server is set otherwise, as wav, mp3, flac, ' +
        'ogg, opus, m4a, mp4, aac or webm. Its format is told from its bytes.',
    },
    ...inForms,
    name: { ...described.name, description: 'Absent: the name of the file.' },
    consent: {
      type: 'string',
      examples: ['I am the speaker.'],
      description: 'By what right the voice is cloned; kept as it came. Some servers demand it.',
    },
    public: { type: 'boolean', default: false, description: 'For everybody to use; only administrators may.' },
  },
}

export const voiceSchemas: Record<string, Schema> = {
  Voice: voice,
  VoiceList: listOf(
    'Voice',
    {
      ...page,
      total_count: count,
      voices: { type: 'array', items: schemaRef('Voice'), description: 'The same as `data`.' },
    },
    ['voices'],
  ),
  VoiceChange: change,
  VoiceChangeForm: { type: 'object', properties: inForms },
  CloneRequest: cloneRequest,
  NewVoice: record({
    voice_id: text,
    id: { type: 'string', description: 'The same as `voice_id`.' },
    object: { type: 'string', const: 'audio.voice' },
    name: text,
    status: { type: 'string', const: 'processing' },
    operation_id: text,
    created_at: unixS,
    requires_verification: { type: 'boolean', const: false },
  }),
}
