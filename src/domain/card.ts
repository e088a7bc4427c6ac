/**
 * A model's card: every fact about a model that the program needs, as data (`models/*.json`), never as code. Read and
 * checked by `catalog/cards`.
 */
export type Task = 'text-to-speech' | 'automatic-speech-recognition'

/** A preset voice: public, owned by nobody. */
export interface CardVoice {
  id: string
  name: string
  description: string
  /** BCP-47. */
  language: string
  labels: Readonly<Record<string, string>>
}

export interface CardLicense {
  /** SPDX where there is one. */
  name: string
  attribution: string
  /** Limits of use that a user must know; null when there are none. */
  limits: string | null
}

export interface Card {
  id: string
  name: string
  description: string
  task: Task
  /** A folder of `models/` in the engine. */
  architecture: string
  /** `auto` takes the installed model with the highest preference. */
  preference: number
  /** Inside the executable: installed on every machine. */
  builtIn: boolean
  license: CardLicense
  /** BCP-47. */
  languages: readonly string[]
  /** Unicode scripts that it can speak, as `\p{Script=...}` names them. */
  scripts: readonly string[]
  sampleRateHz: number
  /** Resident bytes once loaded, as measured. */
  memoryBytes: number
  /** Unix seconds: when the model was published. */
  createdAt: number
  /** How true its clones are; null: it cannot clone. */
  cloning: 'full' | 'approximate' | null
  voices: readonly CardVoice[]
  defaultVoice: string | null
  /** OpenAI's voice names, each to one of this card's voices. */
  voiceAliases: Readonly<Record<string, string>>
}

/** The public ids that OpenAI's clients ask for, each standing for `auto` of its task. */
export const modelAliases: Readonly<Record<Task, { listed: readonly string[]; accepted: RegExp }>> = {
  'text-to-speech': {
    listed: ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'],
    accepted: /^(tts-1(-hd)?(-1106)?|gpt-4o-mini-tts(-2025-.*)?)$/,
  },
  'automatic-speech-recognition': {
    listed: ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-transcribe'],
    accepted: /^(whisper-1|gpt-4o(-mini)?-transcribe(-.*)?|gpt-transcribe)$/,
  },
}
