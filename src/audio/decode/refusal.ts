/**
 * Says why a file cannot be decoded, in words for the client: what the file is instead of audio, or which codec in
 * which container. Found by its first bytes; name and declared type mean nothing.
 */

/** Why a file cannot be decoded. Sent from the Worker to the server, where it becomes a `MynaError`. */
export class Refusal extends Error {
  readonly code: 'clip_undecodable' | 'clip_too_long'
  readonly extras: Record<string, unknown>

  constructor(code: Refusal['code'], message: string, extras: Record<string, unknown> = {}) {
    super(message)
    this.code = code
    this.extras = extras
  }
}

/** A refusal on its way between threads. */
export interface Refused {
  refused: { code: Refusal['code']; message: string; extras: Record<string, unknown>; cause: string }
}

/** @throws anything that is not a refusal */
export function refusedBy(error: unknown): Refused {
  if (!(error instanceof Refusal)) throw error
  const { code, message, extras, cause } = error
  return { refused: { code, message, extras, cause: String(cause) } }
}

export const undecodable = (message: string): Refusal => new Refusal('clip_undecodable', message)

export const advice = 'Send wav, mp3, flac, ogg (Opus or Vorbis), m4a, aac or webm.'

export const unsupported = (what: string): Refusal => undecodable(`${what} is not supported. ${advice}`)

/** Offset, bytes (latin-1), and what it is. */
const signatures: readonly [number, string, string][] = [
  [0, '%PDF', 'a PDF document'],
  [0, '\x7fELF', 'a program (ELF)'],
  [0, 'MZ', 'a program (Windows)'],
  [0, 'PK\x03\x04', 'a ZIP archive'],
  [0, '\x1f\x8b', 'a gzip archive'],
  [0, '7z\xbc\xaf', 'a 7-Zip archive'],
  [0, 'Rar!', 'a RAR archive'],
  [0, '\x89PNG', 'a PNG picture'],
  [0, '\xff\xd8\xff', 'a JPEG picture'],
  [0, 'GIF8', 'a GIF picture'],
  [8, 'WEBP', 'a WebP picture'],
  [0, 'SQLite format', 'a database'],
  [0, 'MThd', 'a MIDI file, which contains notes'],
]

const containers: readonly [number, string, string][] = [
  [0, 'caff', 'CAF'],
  [8, 'AIFF', 'AIFF'],
  [8, 'AIFC', 'AIFF'],
  [8, 'AVI ', 'AVI'],
  [0, 'wvpk', 'WavPack'],
  [0, 'MAC ', "Monkey's Audio"],
  [0, 'TTA1', 'TTA'],
  [0, '.snd', 'AU'],
  [0, '#!AMR', 'AMR'],
  [0, '#!SILK', 'SILK'],
  [0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11', 'Windows Media (ASF)'],
  [0, 'FLV\x01', 'Flash Video'],
  [0, 'DSD ', 'DSD'],
  [0, '#EXTM3U', 'A playlist (M3U)'],
  [28, '\x7fFLAC', 'FLAC in Ogg'],
  [28, 'Speex   ', 'Speex in Ogg'],
  [28, '\x80theora', 'Theora in Ogg'],
]

/** From the format chunk of a WAV file. */
const wavTags: Readonly<Record<number, string>> = {
  0x0001: 'PCM of this bit depth',
  0x0002: 'Microsoft ADPCM',
  0x0011: 'IMA ADPCM',
  0x0031: 'GSM 6.10',
  0x0050: 'MPEG layer 2',
  0x0055: 'MP3',
  0x0161: 'Windows Media Audio',
}

const damaged: readonly [number, string, string][] = [
  [0, 'RIFF', 'WAV'],
  [0, 'fLaC', 'FLAC'],
  [0, 'OggS', 'Ogg'],
  [4, 'ftyp', 'MP4'],
  [0, '\x1a\x45\xdf\xa3', 'WebM or Matroska'],
  [0, 'ID3', 'MP3'],
]

/** For bytes without supported audio, including empty ones. */
export function refusalOf(bytes: Uint8Array): Refusal {
  if (bytes.length === 0) return undecodable('The file is empty.')
  const head = String.fromCharCode(...bytes.subarray(0, 512))
  const find = (list: readonly [number, string, string][]) =>
    list.find(([at, signature]) => head.startsWith(signature, at))?.[2]
  const thing = find(signatures)
  if (thing !== undefined) return undecodable(`This is ${thing}, not audio. ${advice}`)
  const container = find(containers)
  if (container !== undefined) return unsupported(container)
  const tag = head.startsWith('WAVE', 8) ? wavTag(bytes) : null
  if (tag !== null) return unsupported(`${wavTags[tag] ?? `Format ${tag}`} in WAV`)
  const begun = find(damaged)
  if (begun !== undefined) return undecodable(`The file starts like ${begun} but is damaged or cut short.`)
  if (isText(bytes)) return undecodable(`This is text, not audio. ${advice}`)
  return undecodable(`The file is not in a known audio format. ${advice}`)
}

/** The format tag; null: none. */
function wavTag(bytes: Uint8Array): number | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 12; at + 10 <= bytes.length; at += 8 + view.getUint32(at + 4, true)) {
    const isFormat = view.getUint32(at) === 0x666d7420
    if (isFormat) return view.getUint16(at + 8, true)
  }
  return null
}

/** UTF-8 without control characters, as far as a first look goes. */
function isText(bytes: Uint8Array): boolean {
  try {
    // The last character may be cut.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, 512), { stream: true })
    return !/(?![\t-\r])\p{Cc}/u.test(text)
  } catch {
    return false
  }
}
