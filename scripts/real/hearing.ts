/** The transcripts of real readers, of sounds without speech, and of other languages. */
import { existsSync, mkdirSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { decodeFile } from '../../src/audio/decode/clip.ts'
import { sound } from '../../src/audio/clip.ts'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { clipRateHz, noise, silence, tone } from '../../src/testing/speech-clips.ts'
import { printTable } from '../bench/figures.ts'
import { Peer, pythonPeer } from './peer.ts'
import type { ModelId, Subject } from './subject.ts'
import { ct2Of, nodePeers, python } from './weights.ts'
import { rateOf, type WordErrors, wordErrors } from './words.ts'

export interface Clip {
  path: string
  /** Raw float32 at 16 kHz, for programs that cannot read FLAC. */
  pcmPath: string
  seconds: number
  reference: string
}

interface Result {
  errors: WordErrors[]
  cpu: number
  wall: number
}

type Listener = (clip: Clip) => Promise<{ text: string; cpu: number }>

/** Word errors and processor time: every clip by all programs, which take turns at being first. */
export async function measureHearing(subject: Subject, shared: string, count: number): Promise<void> {
  const clips = await clipsOf(shared, count)
  if (clips.length === 0) return console.log(`\nhearing: left out, no clips and words in ${shared}`)
  const fasterWhisper = (type: string): Peer => pythonPeer(python, 'listen', ct2Of('whisper-base'), type)
  const floats = fasterWhisper('float32')
  const bytes = fasterWhisper('int8')
  const script = join(import.meta.dir, 'transformers-js.ts')
  const transformersJs = new Peer([process.execPath, script, nodePeers, realWeightsRoot, 'whisper-base'])
  const myna =
    (model: ModelId): Listener =>
    async ({ path }) => {
      const { found, cpu } = await subject.hear(model, fileOf(await Bun.file(path).bytes(), 'clip.flac'), 'en')
      return { text: found.text, cpu }
    }
  const listeners: Record<string, Listener> = {
    'myna, base q8': myna('base'),
    'myna, base fp32': myna('base-fp32'),
    'faster-whisper, base float32': ({ path }) => floats.ask({ path }),
    'faster-whisper, base int8': ({ path }) => bytes.ask({ path }),
    'transformers.js, base q8': ({ pcmPath }) => transformersJs.ask({ pcm: pcmPath }),
    'myna, tiny.en q8': myna('tiny.en'),
  }
  const names = Object.keys(listeners)
  // The first answer loads the model, which is not part of the comparison.
  for (const name of names) await listeners[name]!(clips[0]!)
  const results = new Map(names.map((name): [string, Result] => [name, { errors: [], cpu: 0, wall: 0 }]))
  for (const [at, clip] of clips.entries()) {
    for (const [index] of names.entries()) {
      const name = names[(at + index) % names.length]!
      const beganMs = performance.now()
      const { text, cpu } = await listeners[name]!(clip)
      const result = results.get(name)!
      result.wall += (performance.now() - beganMs) / 1000
      result.errors.push(wordErrors(clip.reference, text))
      result.cpu += cpu
      console.error(`${clip.path.split('/').at(-1)} ${name} ${cpu.toFixed(1)} s: ${text}`)
    }
  }
  await Promise.all([floats, bytes, transformersJs].map((peer) => peer.end()))
  const seconds = clips.reduce((sum, clip) => sum + clip.seconds, 0)
  const load = loadavg().map((value) => value.toFixed(1))
  printTable(`${clips.length} clips of real readers, ${Math.round(seconds)} s, load average ${load.join(' ')}`, [
    ['heard by', 'word errors, %', 'CPU seconds', 'CPU ms a second', 'wall seconds'],
    ...[...results].map(([name, { errors, cpu, wall }]) => [name, rateOf(errors), cpu, (1000 * cpu) / seconds, wall]),
  ])
}

/** These clips have no speech, so there must be no text. */
export async function measureSilence(subject: Subject): Promise<void> {
  const chord = [220, 277.2, 329.6].map((hz) => tone(30, hz))
  const sounds = {
    silence: silence(30),
    noise: noise(30),
    'hum of 50 Hz': tone(30, 50),
    'a chord': Int16Array.from(chord[0]!, (_, at) => chord.reduce((sum, one) => sum + one[at]! / 3, 0)),
  }
  const rows: string[][] = []
  for (const [name, pcm] of Object.entries(sounds)) {
    for (const model of ['base', 'base-fp32', 'tiny.en'] as const) {
      const { found } = await subject.hear(model, fileOf(sound.wav(pcm, clipRateHz), 'clip.wav'), null)
      rows.push([name, model, JSON.stringify(found.text)])
    }
  }
  printTable('30 s in which nobody speaks', [['sound', 'model', 'text'], ...rows])
}

/** Kokoro speaks it, Whisper detects the language. */
export async function measureLanguages(subject: Subject): Promise<void> {
  const spoken = [
    ['spanish', 'ef_dora', 'Hace mucho tiempo vivía en un pueblo pequeño una mujer que conocía todas las estrellas.'],
    ['french', 'ff_siwis', 'Il y a longtemps vivait dans un petit village une femme qui connaissait les étoiles.'],
    ['italian', 'if_sara', 'Molto tempo fa viveva in un piccolo paese una donna che conosceva tutte le stelle.'],
    ['portuguese', 'pf_dora', 'Há muito tempo vivia numa aldeia pequena uma mulher que conhecia todas as estrelas.'],
    ['english', 'af_heart', 'A long time ago there lived in a small village a woman who knew all the stars.'],
  ] as const
  const rows: string[][] = []
  for (const [language, voice, text] of spoken) {
    const { found: wav } = await subject.speak(voice, text)
    for (const model of ['base', 'base-fp32'] as const) {
      const { found } = await subject.hear(model, fileOf(wav, 'speech.wav'), null)
      rows.push([language, model, found.language, found.text])
    }
  }
  printTable('the language is found out', [['spoken', 'model', 'found', 'text'], ...rows])
}

export const fileOf = (bytes: Uint8Array, name: string): File => new File([bytes as Uint8Array<ArrayBuffer>], name)

export async function clipsOf(shared: string, count: number): Promise<Clip[]> {
  const folder = join(shared, 'data', 'clips')
  const words = join(shared, 'prototypes', 'embedded', 'librispeech-references.py')
  if (!existsSync(folder) || !existsSync(words)) return []
  const text = await Bun.file(words).text()
  const literal = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1).replace(/,\s*\}$/, '}')
  const references = JSON.parse(literal) as Record<string, string>
  const made = join(nodePeers, 'clips')
  mkdirSync(made, { recursive: true })
  return Promise.all(
    Object.entries(references)
      .slice(0, count)
      .map(async ([name, reference]) => {
        const path = join(folder, `${name}.flac`)
        const { pcm } = await decodeFile(await Bun.file(path).bytes(), 120)
        const pcmPath = join(made, `${name}.f32`)
        await Bun.write(pcmPath, pcm)
        return { path, pcmPath, reference, seconds: pcm.length / clipRateHz }
      }),
  )
}
