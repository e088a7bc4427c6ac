/** Lets people hear what models sound like before they are installed: see `samples/README.md`. */
import kokoro from './samples/kokoro-82m.opus' with { type: 'file' }

/** Paths of Ogg Opus files, by the family of the card. */
export const samples: Readonly<Record<string, string>> = { 'kokoro-82m': kokoro }
