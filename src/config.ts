/**
 * Every setting in one table: name, default, meaning. The only file that reads the environment; everything else is
 * handed its values. `MYNA_<NAME>` sets one; a flag of the command line wins over it.
 */
import { isIP } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'

interface Setting<T> {
  readonly env: string
  readonly default: T
  readonly about: string
  /** What it may hold, phrased to follow "must be"; null: anything. */
  readonly takes: string | null
  /** @returns undefined for what it cannot hold */
  readonly parse: (text: string) => T | undefined
}

const whole = (min: number, max: number) => (text: string) => {
  const value = Number(text)
  return /^\d+$/.test(text.trim()) && value >= min && value <= max ? value : undefined
}
const flag = (text: string) =>
  ['1', 'true', 'yes', 'on'].includes(text.toLowerCase())
    ? true
    : ['0', 'false', 'no', 'off'].includes(text.toLowerCase())
      ? false
      : undefined
const words = (text: string): readonly string[] => text.split(/[\s,]+/).filter((word) => word !== '')

const number = (env: string, value: number, min: number, max: number, about: string): Setting<number> => ({
  env: `MYNA_${env}`,
  default: value,
  about,
  takes: `a whole number from ${min} to ${max}`,
  parse: whole(min, max),
})
const sizeUnits: Readonly<Record<string, number>> = {
  '': 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KIB: 2 ** 10,
  MIB: 2 ** 20,
  GIB: 2 ** 30,
}

/** Bytes, or a number with its unit. */
const size = (env: string, value: number, about: string): Setting<number> => ({
  env: `MYNA_${env}`,
  default: value,
  about,
  takes: 'bytes, or a number with its unit, such as 6GB',
  parse: (given) => {
    const [, amount, unit = ''] = /^(\d+(?:\.\d+)?) *([A-Z]*)$/.exec(given.trim().toUpperCase()) ?? []
    const factor = sizeUnits[unit]
    return amount === undefined || factor === undefined ? undefined : Math.floor(Number(amount) * factor)
  },
})
const text = (env: string, value: string, about: string): Setting<string> => ({
  env: `MYNA_${env}`,
  default: value,
  about,
  takes: null,
  parse: (given) => given,
})
const toggle = (env: string, value: boolean, about: string): Setting<boolean> => ({
  env: `MYNA_${env}`,
  default: value,
  about,
  takes: 'true or false',
  parse: flag,
})
const choice = <const T extends string>(env: string, value: T, others: readonly T[], about: string): Setting<T> => ({
  env: `MYNA_${env}`,
  default: value,
  about,
  takes: [value, ...others].join(', '),
  parse: (given) => [value, ...others].find((known) => known === given),
})

/** @param isOne whether a word may be in the list */
const list = (
  env: string,
  takes: string,
  isOne: (word: string) => boolean,
  about: string,
): Setting<readonly string[]> => ({
  env: `MYNA_${env}`,
  default: [],
  about,
  takes,
  parse: (given) => (words(given).every(isOne) ? words(given) : undefined),
})

/** What a browser sends as `Origin`: it must match exactly. */
const isOrigin = (text: string): boolean => text === '*' || (URL.canParse(text) && new URL(text).origin === text)

const million = 1_000_000

export const settings = {
  dataDir: text('DATA', '', 'data folder; empty: $XDG_DATA_HOME/myna or ~/.local/share/myna'),
  nativeDir: text('NATIVE_DIR', '', 'where embedded native libraries are unpacked; empty: $XDG_CACHE_HOME/myna'),
  database: text(
    'DATABASE',
    '',
    'PostgreSQL that several boxes share, as postgres://USER:PASSWORD@HOST/NAME; empty: SQLite in the data folder',
  ),
  databasePasswordFile: text('DATABASE_PASSWORD_FILE', '', 'file with the password for MYNA_DATABASE'),
  databaseConnections: number('DATABASE_CONNECTIONS', 10, 2, 1000, 'connections of this box to MYNA_DATABASE at most'),
  boxName: text('BOX_NAME', '', 'name of this machine among the boxes that share a database; empty: its host name'),
  adminKeyFile: text(
    'ADMIN_KEY_FILE',
    '',
    "file with the first administrator's key; empty: a key is generated and printed",
  ),
  host: text('HOST', '127.0.0.1', 'address to listen on'),
  port: number('PORT', 8790, 0, 65535, 'port to listen on; 0: any free one'),
  tlsCert: text('TLS_CERT', '', 'file with a certificate in PEM: the API speaks https and wss; empty: it does not'),
  tlsKey: text('TLS_KEY', '', 'file with its private key in PEM'),
  wyoming: text('WYOMING', '', "Home Assistant's Wyoming protocol: [HOST:]PORT to listen on; empty: off"),
  wyomingAccount: text(
    'WYOMING_ACCOUNT',
    'wyoming',
    'account that Wyoming requests are charged to; created if missing',
  ),
  wyomingAnnounce: toggle('WYOMING_ANNOUNCE', true, 'announce the Wyoming port on the network, if it is open to it'),
  device: text('DEVICE', 'auto', 'where models run: auto, cpu, cuda or cuda:N'),
  runtimeMirror: text(
    'RUNTIME_MIRROR',
    '',
    'mirror of https://files.pythonhosted.org to pull the CUDA build from; empty: no mirror',
  ),
  cudaTf32: toggle('CUDA_TF32', true, 'on a graphics card: multiply float32 with a 10-bit mantissa, which is faster'),
  speechMicrosPerChar: number(
    'SPEECH_MICROS_PER_CHAR',
    15,
    0,
    million,
    'price per character, in millionths of a dollar',
  ),
  cloneMicros: number('CLONE_PRICE_MICROS', million, 0, 1000 * million, 'price of each clone after the free ones'),
  freeClones: number('FREE_CLONES', 10, 0, million, 'free clones per account'),
  maxVoices: number('MAX_VOICES_PER_ACCOUNT', 100, 0, million, 'voices per account'),
  maxInputChars: number('MAX_INPUT_CHARS', 4096, 1, 10 * million, 'longest speech input, in code points'),
  maxSpeechSeconds: number(
    'MAX_SPEECH_SECONDS',
    0,
    0,
    10 * million,
    'longest speech per request, as estimated, in seconds; 0: 900, scaled if MAX_INPUT_CHARS is not 4096',
  ),
  maxJsonBytes: number('MAX_JSON_BYTES', 1_048_576, 1024, 100 * million, 'largest JSON body'),
  maxClipBytes: number('MAX_CLIP_BYTES', 10_485_760, 1024, 1000 * million, 'largest uploaded clip'),
  minClipSeconds: number('MIN_CLIP_SECONDS', 3, 1, 3600, 'shortest clip to clone a voice from, in seconds'),
  maxClipSeconds: number('MAX_CLIP_SECONDS', 60, 1, 3600, 'longest clip to clone a voice from, in seconds'),
  requireConsent: toggle('REQUIRE_CONSENT', false, 'clone only when the request declares consent'),
  clonesPerMinute: number('CLONES_PER_MINUTE', 10, 1, million, 'clones per account and minute'),
  cloneConcurrency: number('CLONE_CONCURRENCY', 2, 1, million, 'concurrent clones per account'),
  cloneStreams: number('CLONE_STREAMS', 2, 1, 4096, 'concurrent clones on this server'),
  cloneQueue: number('CLONE_QUEUE', 32, 0, million, 'clones waiting for their turn; more are refused'),
  maxTranscriptionBytes: number(
    'MAX_TRANSCRIPTION_BYTES',
    26_214_400,
    1024,
    100_000 * million,
    'largest upload to transcribe',
  ),
  maxTranscriptionSeconds: number(
    'MAX_TRANSCRIPTION_SECONDS',
    10_860,
    1,
    million,
    'longest audio to transcribe, in seconds: a little over three hours',
  ),
  transcriptionsPerMinute: number('TRANSCRIPTIONS_PER_MINUTE', 60, 1, million, 'transcriptions per account and minute'),
  transcriptionConcurrency: number('TRANSCRIPTION_CONCURRENCY', 2, 1, million, 'concurrent transcriptions per account'),
  transcriptionStreams: number('TRANSCRIPTION_STREAMS', 4, 1, 4096, 'concurrent transcriptions in the engine'),
  transcriptionQueue: number(
    'TRANSCRIPTION_QUEUE',
    32,
    0,
    million,
    'transcriptions waiting for the engine; more are refused',
  ),
  transcriptionWaitMs: number(
    'TRANSCRIPTION_WAIT_MS',
    120_000,
    100,
    3_600_000,
    'longest time a transcription waits for the engine',
  ),
  realtimeSessions: number('REALTIME_SESSIONS', 256, 1, million, 'realtime sockets that an account may have open'),
  defaultVoice: text('DEFAULT_VOICE', '', "voice if none is named; empty: the model's default"),
  voiceAliases: list(
    'VOICE_ALIASES',
    'pairs NAME=VOICE_ID',
    (pair) => /^[^=]+=[^=]+$/.test(pair),
    "server voice aliases, NAME=VOICE_ID, comma separated; they precede the model's own",
  ),
  listModelAliases: toggle('LIST_MODEL_ALIASES', true, 'list tts-1, whisper-1 and similar names among the models'),
  allowAnonymous: toggle('ALLOW_ANONYMOUS', false, 'requests without a credential act as the account "anonymous"'),
  acceptKeyHeaders: toggle(
    'ACCEPT_KEY_HEADERS',
    true,
    'accept xi-api-key, X-API-Key and api-key without Authorization',
  ),
  speechPerMinute: number('SPEECH_PER_MINUTE', 300, 1, million, 'speech requests per account and minute'),
  speechConcurrency: number('SPEECH_CONCURRENCY', 16, 1, million, 'concurrent speech requests per account'),
  speechStreams: number(
    'SPEECH_STREAMS',
    0,
    0,
    4096,
    'speech streams at once; 0: as many as this machine can serve without a gap, as it is measured',
  ),
  speechQueue: number('SPEECH_QUEUE', 64, 0, million, 'speech requests waiting for the engine; more are refused'),
  queueWaitMs: number('QUEUE_WAIT_MS', 20_000, 100, 600_000, 'longest time a speech request waits for the engine'),
  requestsPerMinute: number('REQUESTS_PER_MINUTE', 600, 1, million, 'other requests per account and minute'),
  operationsPerMinute: number(
    'OPERATIONS_PER_MINUTE',
    600,
    1,
    million,
    'operation requests (inspect, cancel) per account and minute',
  ),
  operationsPerSecond: number(
    'OPERATIONS_PER_SECOND',
    100,
    1,
    million,
    'operation requests (inspect, cancel) per account and second',
  ),
  publicPerMinute: number('PUBLIC_PER_MINUTE', 120, 1, million, 'requests without a key per address and minute'),
  unreadMs: number(
    'UNREAD_MS',
    120_000,
    100,
    3_600_000,
    'how long a client may stop reading before it counts as disconnected',
  ),
  keepAliveMs: number('KEEP_ALIVE_MS', 300_000, 0, 86_400_000, 'how long an unused model stays loaded; 0: forever'),
  modelMemoryBytes: size(
    'MODEL_MEMORY',
    0,
    "memory for the models of one engine, such as 6GB; 0: 40 % of the machine's, or of the card's",
  ),
  engineReadyMs: number('ENGINE_READY_MS', 30_000, 100, 600_000, 'how long a starting engine may be silent'),
  engineStallMs: number(
    'ENGINE_STALL_MS',
    30_000,
    100,
    600_000,
    'how long an engine may show no sign of life before it is killed; four times as long for text',
  ),
  engineLoadMs: number(
    'ENGINE_LOAD_MS',
    300_000,
    100,
    3_600_000,
    'how long an engine may load a model before it is killed',
  ),
  drainMs: number('DRAIN_MS', 30_000, 0, 600_000, 'how long a shutdown waits for running streams'),
  idleConnectionS: number('IDLE_CONNECTION_S', 130, 1, 255, 'how long unused connections are kept, in seconds'),
  publicUrl: {
    env: 'MYNA_PUBLIC_URL',
    default: '',
    about: 'address that clients use, such as https://voice.example.com, if Myna is behind a proxy',
    takes: 'an origin without a path',
    parse: (given: string) => (isOrigin(given) && given !== '*' ? given : undefined),
  },
  corsOrigins: list(
    'CORS_ORIGINS',
    'origins such as https://app.example.com, without a path, or *',
    isOrigin,
    'origins that may call keyed routes from a browser, or *',
  ),
  trustedProxies: list(
    'TRUSTED_PROXIES',
    'IP addresses',
    (address) => isIP(address) !== 0,
    'addresses of proxies whose X-Forwarded-For is trusted',
  ),
  metricsToken: text('METRICS_TOKEN', '', 'bearer token for /metrics; empty: metrics are only on the local socket'),
  encoderWorkers: number('ENCODER_WORKERS', 2, 1, 64, 'threads that encode audio'),
  decoderWorkers: number('DECODER_WORKERS', 2, 1, 64, 'threads that decode clips'),
  voiceWorkers: number('VOICE_WORKERS', 0, 0, 64, 'threads of the built-in voice; 0: one per core, at most 4'),
  transcriptionThreads: number(
    'TRANSCRIPTION_THREADS',
    0,
    0,
    256,
    'threads of a transcription model; 0: one per core, at most 8',
  ),
  pronunciations: text(
    'PRONUNCIATIONS',
    '',
    'file with lines WORD=SPOKEN; empty: pronunciations.txt in the data folder',
  ),
  log: choice('LOG', 'info', ['quiet', 'debug'], 'quiet, info or debug'),
} satisfies Record<string, Setting<unknown>>

type Value<S> = S extends Setting<infer T> ? T : never
export type Config = { readonly [K in keyof typeof settings]: Value<(typeof settings)[K]> }

/** A setting that is invalid: reported to the user who started the program, who can fix it. */
export class ConfigError extends Error {}

/**
 * @param flags values from the command line, which win
 * @throws ConfigError naming the variable and what it may hold
 */
export function loadConfig(flags: Partial<Config> = {}, env: Record<string, string | undefined> = process.env): Config {
  const values: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    // Compose files and units hand on what is not set as an empty value.
    const given = env[setting.env] || null
    const value = given === null ? setting.default : setting.parse(given)
    if (value === undefined) throw new ConfigError(`${setting.env}=${given}: must be ${setting.takes}`)
    values[name] = value
  }
  for (const [name, value] of Object.entries(flags)) if (value !== undefined) values[name] = value
  values.dataDir ||= join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'myna')
  values.nativeDir ||= join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'myna')
  return values as Config
}

/** Read by the commands that are clients, by the install script and by the build. */
const othersOfOurs = ['MYNA_URL', 'MYNA_API_KEY', 'MYNA_VERSION', 'MYNA_BIN_DIR', 'MYNA_RELEASES', 'MYNA_BUILD_CACHE']

/** Variables that look like settings but are unknown: misspelt, or of another version. */
export function unknownSettings(env: Record<string, string | undefined> = process.env): readonly string[] {
  const known = new Set([...Object.values(settings).map((setting) => setting.env), ...othersOfOurs])
  return Object.keys(env).filter((name) => name.startsWith('MYNA_') && !known.has(name))
}

/** The settings of the API clients among the commands, under the names that this project documents. */
export const clientEnv = (env: Record<string, string | undefined> = process.env) => ({
  url: env.MYNA_URL ?? null,
  apiKey: env.MYNA_API_KEY ?? null,
})

/**
 * The hub that models come from, under its usual names: HF_ENDPOINT for a mirror, HF_TOKEN for repositories that need
 * one.
 */
export const hubEnv = (env: Record<string, string | undefined> = process.env) => ({
  endpoint: env.HF_ENDPOINT || null,
  token: env.HF_TOKEN?.trim() || null,
})

/** @param output of this process @returns whether systemd's journal keeps what is written there (systemd.exec(5)) */
export const isJournal = (
  output: { dev: number; ino: number } | null,
  env: Record<string, string | undefined> = process.env,
): boolean => output !== null && env.JOURNAL_STREAM === `${output.dev}:${output.ino}`

/** An engine has no use for them, and whatever reads its environment has. */
const secrets: readonly string[] = [
  'MYNA_API_KEY',
  'MYNA_METRICS_TOKEN',
  'MYNA_ADMIN_KEY_FILE',
  'MYNA_DATABASE',
  'MYNA_DATABASE_PASSWORD_FILE',
  'HF_TOKEN',
]

/**
 * The environment of a child process: this process's environment without keys and tokens. By default CUDA orders cards
 * by speed; `nvidia-smi` orders them by bus position, and so do we.
 */
export function childEnv(env: Record<string, string | undefined> = process.env): Record<string, string> {
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const own = given.filter(([name]) => !secrets.includes(name))
  return { CUDA_DEVICE_ORDER: 'PCI_BUS_ID', ...Object.fromEntries(own) }
}
