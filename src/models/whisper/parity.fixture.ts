/**
 * Requests for the small model with random weights. openai/whisper gets the same requests
 * (scripts/golden/whisper-decode.ts), and the tests compare its answers with ours.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decodeFile } from '../../audio/decode/clip.ts'
import { concatS16, fromS16 } from '../../audio/pcm.ts'
import { buzz, noise, silence, speech, tone, words } from '../../testing/speech-clips.ts'
import { defaultRules, type Rules } from './decode.ts'

/** Keyed by the reference's option names. */
export interface ReferenceOptions {
  language: string | null
  task: 'transcribe' | 'translate'
  initial_prompt: string | null
  word_timestamps: boolean
  temperature: number | readonly number[]
  compression_ratio_threshold: number | null
  logprob_threshold: number | null
  no_speech_threshold: number | null
}

const plain: ReferenceOptions = {
  language: 'en',
  task: 'transcribe',
  initial_prompt: null,
  word_timestamps: false,
  temperature: 0,
  compression_ratio_threshold: null,
  logprob_threshold: null,
  no_speech_threshold: null,
}
const { temperatures: ladder } = defaultRules

export interface Mode {
  /** Whether the model is multilingual. */
  multilingual: boolean
  options: ReferenceOptions
}

const mode = (options: Partial<ReferenceOptions>, multilingual = true): Mode => ({
  multilingual,
  options: { ...plain, ...options },
})

/** Limits chosen so that the small model's results are sometimes within them. */
export const modes: Readonly<Record<string, Mode>> = {
  greedy: mode({}),
  'in a language that it found out': mode({ language: null }),
  'after a prompt': mode({ initial_prompt: ' Names, as in Τάλα, Ճեմ; and a number: 12.5' }),
  translating: mode({ task: 'translate', language: 'de' }),
  'English only': mode({}, false),
  'with words': mode({ word_timestamps: true }),
  'with words, unspaced': mode({ word_timestamps: true, language: 'ja' }),
  'at one temperature': mode({ temperature: 0.7, compression_ratio_threshold: 2.4, logprob_threshold: -1 }),
  'falling back': mode({ temperature: ladder, compression_ratio_threshold: 4.2, logprob_threshold: -1.25 }),
  // The small model nearly always misses them, so it is tried at every temperature.
  "within the reference's own limits": mode({
    temperature: ladder,
    compression_ratio_threshold: 2.4,
    logprob_threshold: -1,
    no_speech_threshold: 0.6,
  }),
  'skipping silence': mode({ no_speech_threshold: 0.00005, logprob_threshold: -1.1 }),
}

export function rulesOf(options: ReferenceOptions): Rules {
  return {
    temperatures: [options.temperature].flat(),
    maxCompressionRatio: options.compression_ratio_threshold,
    minAvgLogprob: options.logprob_threshold,
    maxNoSpeechProb: options.no_speech_threshold,
    salvages: false,
    finishes: false,
  }
}

export interface Order extends Mode {
  clip: string
  mode: string
}

export const ordersFor = (clips: readonly string[], names = Object.keys(modes)): Order[] =>
  clips.flatMap((clip) => names.map((name) => ({ clip, mode: name, ...modes[name]! })))

/** Generated from seeds, so every checkout has them. */
export async function madeClips(): Promise<Record<string, Float32Array>> {
  const greeting = await speech('Good morning to you all.')
  const sentence = await speech(words, 'slt')
  const other = await speech('It rained for days, and nobody went out before the sun came back.', 'kal16')
  const talk = concatS16([sentence, silence(0.7), greeting, noise(0.4, 0.01), other, silence(1.2)])
  const sounds = concatS16([silence(0.3), tone(0.6, 220), noise(0.6), buzz(0.8, 130, 3), silence(0.2)])
  const clips = {
    greeting,
    sentence,
    sounds,
    hiss: noise(2, 0.002),
    'half a minute and more': concatS16([talk, talk, talk]),
    'more than a minute': concatS16([talk, sounds, talk, silence(9), other, talk, sounds, talk, greeting, talk]),
  }
  return Object.fromEntries(Object.entries(clips).map(([name, pcm]) => [name, fromS16(pcm)]))
}

const realFolder = join(import.meta.dir, '../../../../shared/data/clips')
export const hasRealClips = existsSync(realFolder)

/** One of the clips. @param name without `.flac` */
export const realClip = async (name: string): Promise<Float32Array> =>
  (await decodeFile(await Bun.file(join(realFolder, `${name}.flac`)).bytes(), 60)).pcm

/** Twenty clips of real readers, and five of them joined. They are not in the repository: see `hasRealClips`. */
export async function realClips(): Promise<Record<string, Float32Array>> {
  const names = [...new Bun.Glob('*.flac').scanSync({ cwd: realFolder })].sort().slice(0, 20)
  const clips = await Promise.all(names.map((name) => realClip(name.replace('.flac', ''))))
  const five = [3, 7, 9, 12, 16].flatMap((index) => [...clips[index]!])
  return { ...Object.fromEntries(names.map((name, index) => [name, clips[index]!])), five: Float32Array.from(five) }
}

export const hashOfClip = (pcm: Float32Array): string => Bun.hash(Int16Array.from(pcm, (x) => 32_768 * x)).toString(16)
