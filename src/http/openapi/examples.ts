/** Examples for the API's document, by the schema that each must satisfy (a test holds them to it). */
export const operationId = 'op_01KAJ5ZV4Q9X8W7V6T5S4R3Q2P'

const speechDone = {
  type: 'speech.audio.done',
  usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0, characters: 45, audio_seconds: 3.2 },
  operation_id: operationId,
}

const transcriptDone = {
  type: 'transcript.text.done',
  text: 'Good morning.',
  languages: [{ code: 'en' }],
  usage: { type: 'tokens', input_tokens: 0, output_tokens: 0, total_tokens: 0, seconds: 2 },
}

const model = {
  id: 'flite',
  object: 'model',
  created: 1646092800,
  owned_by: 'myna',
  shutdown_date: null,
  task: 'text-to-speech',
  root: 'flite',
  name: 'Flite',
  languages: ['en'],
  sample_rate: 24000,
  max_input_chars: 4096,
}

export const voiceId = 'voice_01KAJ5ZV5B6C7D8E9F0G1H2J3K'

const voice = {
  object: 'audio.voice',
  voice_id: voiceId,
  id: voiceId,
  name: 'Grandmother',
  description: 'Reads slowly and warmly.',
  labels: { accent: 'scottish', age: 'old' },
  category: 'cloned',
  status: 'ready',
  error: null,
  language: 'en-GB',
  is_owner: true,
  is_public: false,
  access: 'private',
  preview_url: `https://voice.example/v1/voices/${voiceId}/preview`,
  model: 'flite',
  fidelity: 'approximate',
  aliases: ['nova'],
  created_at: 1763712000,
  created_at_unix: 1763712000,
  updated_at: 1763712004,
  samples: [
    {
      sample_id: voiceId,
      file_name: 'grandmother.m4a',
      mime_type: 'audio/mp4',
      size_bytes: 161204,
      duration_secs: 11.52,
      hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    },
  ],
  operation_id: operationId,
}

const account = {
  object: 'account',
  id: 'acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J',
  user_id: 'acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J',
  name: 'workshop',
  email: null,
  role: 'user',
  is_admin: false,
  created_at: 1763712000,
  key: {
    object: 'api_key',
    id: 'key_01KAJ5ZV1A1B2C3D4E5F6G7H8J',
    name: 'laptop',
    prefix: 'sk-myna-AbCd',
    unrestricted: false,
    scopes: ['tts', 'usage'],
    created_at: 1763712000,
    expires_at: null,
    last_used_at: 1763715600,
  },
  currency: 'usd',
  balance_micros: 4999325,
  voices: { owned: 3, limit: 100 },
  clones: { used: 3, free_allowance: 10, free_remaining: 7, price_micros: 1000000 },
  limits: {
    max_input_chars: 4096,
    max_clip_bytes: 10485760,
    speech_requests_per_minute: 300,
    speech_concurrency: 16,
    max_transcription_bytes: 26214400,
    max_transcription_seconds: 10860,
    transcription_requests_per_minute: 60,
    transcription_concurrency: 2,
    operation_requests_per_minute: 600,
  },
}

const usage = {
  object: 'page',
  start_time: 1761177600,
  end_time: 1763712001,
  currency: 'usd',
  data: [
    {
      object: 'bucket',
      start_time: 1763683200,
      end_time: 1763712001,
      results: [
        {
          object: 'organization.usage.audio_speeches.result',
          characters: 45,
          audio_seconds: 3.2,
          num_model_requests: 1,
          charged_micros: 675,
          model: null,
          api_key_id: null,
          project_id: null,
          user_id: null,
        },
      ],
    },
  ],
  has_more: false,
  next_page: null,
  totals: {
    speech: { requests: 1, characters: 45, audio_seconds: 3.2, charged_micros: 675 },
    transcription: { requests: 0, seconds: 0, charged_micros: 0 },
    clones: { requests: 0, free: 0, charged_micros: 0, refunded_micros: 0 },
    charged_micros: 675,
  },
  balance_micros: 4999325,
}

export const examples = {
  SpeechEvents: [
    'data: {"type":"speech.audio.delta","audio":"//OkxAAAAANIAAAAAExBTUUz"}',
    `data: ${JSON.stringify(speechDone)}`,
    'data: [DONE]',
    '',
  ].join('\n\n'),
  TranscriptEvents: [
    ': heard 1.4 of 1.4',
    'event: transcript.text.delta\ndata: {"type":"transcript.text.delta","delta":"Good morning."}',
    `event: transcript.text.done\ndata: ${JSON.stringify(transcriptDone)}`,
    'data: [DONE]',
    '',
  ].join('\n\n'),
  Transcription: { text: 'Good morning.', languages: [{ code: 'en' }], usage: { type: 'duration', seconds: 2 } },
  VerboseTranscription: {
    task: 'transcribe',
    language: 'english',
    duration: 1.42,
    text: 'Good morning.',
    segments: [
      {
        id: 0,
        seek: 0,
        start: 0,
        end: 1.42,
        text: ' Good morning.',
        tokens: [],
        temperature: 0,
        avg_logprob: -0.2,
        compression_ratio: 1.1,
        no_speech_prob: 0.01,
      },
    ],
    usage: { type: 'duration', seconds: 2 },
  },
  Operation: {
    id: operationId,
    object: 'operation',
    type: 'speech',
    state: 'terminal',
    outcome: 'completed',
    charged_micros: 675,
    completion_bytes: 153600,
    created_at: 1763712000,
    settled_at: 1763712003,
    expires_at: 1763715603,
    voice_id: 'slt',
    error: null,
  },
  Cancelled: { ok: true },
  Model: model,
  ModelList: { object: 'list', data: [model], has_more: false, first_id: 'flite', last_id: 'flite' },
  SpeechModelList: { object: 'list', data: [model], models: [{ id: 'flite', name: 'Flite' }] },
  Voice: voice,
  VoiceList: {
    object: 'list',
    data: [voice],
    has_more: false,
    first_id: voiceId,
    last_id: voiceId,
    total_count: 1,
    voices: [voice],
  },
  VoiceChange: { name: 'Grandma', labels: { accent: 'scottish' }, aliases: ['nova'] },
  NewVoice: {
    voice_id: voiceId,
    id: voiceId,
    object: 'audio.voice',
    name: 'Grandmother',
    status: 'processing',
    operation_id: operationId,
    created_at: 1763712000,
    requires_verification: false,
  },
  Account: account,
  UsagePage: usage,
  Health: { status: 'ok', version: '0.1.0', uptime_seconds: 3600 },
  Readiness: {
    status: 'ready',
    checks: { database: 'ok', tts: 'ok', transcription: 'unavailable', disk: 'ok', uploads: 'ok' },
    devices: { tts: { device: 'cpu', reason: null } },
    models: [
      {
        id: 'flite',
        task: 'text-to-speech',
        state: 'loaded',
        device: 'cpu',
        memory_bytes: 150_000_000,
        active_streams: 0,
        idle_seconds_left: 287,
      },
    ],
  },
  Service: { name: 'myna', version: '0.1.0', api_version: 'v1' },
} as const

/** Speech requests to try. */
export const speechRequests = {
  short: {
    summary: 'A sentence as MP3',
    value: { model: 'tts-1', voice: 'alloy', input: 'The myna repeats what it has heard.' },
  },
  raw: {
    summary: 'Raw PCM, 16 kHz, a little faster',
    value: { input: 'Your table is ready.', response_format: 'pcm', sample_rate: 16000, speed: 1.1 },
  },
  events: {
    summary: 'Server-sent events',
    value: { model: 'auto', voice: 'nova', input: 'One piece after another.', stream_format: 'sse' },
  },
}
