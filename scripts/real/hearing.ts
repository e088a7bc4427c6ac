/** The transcripts of real readers, of sounds without speech, and of other languages. */
import { sound } from '../../src/audio/clip.ts'
import { clipRateHz, noise, silence, tone } from '../../src/testing/speech-clips.ts'
import { printTable } from '../bench/figures.ts'
import { clipsOf } from './clips.ts'
import { hearInTurn, type Listener, printHeard } from './in-turn.ts'
import { askedOf, fasterWhisper, fileOf, heardBy, transformersJs } from './listeners.ts'
import type { Subject } from './subject.ts'

/** Word errors and processor time of Myna and of others with the same weights. */
export async function measureHearing(subject: Subject, shared: string, count: number): Promise<void> {
  const clips = await clipsOf(shared, count)
  if (clips.length === 0) return console.log(`\nhearing: left out, no clips and words in ${shared}`)
  const peers = {
    'faster-whisper, base float32': fasterWhisper('float32'),
    'faster-whisper, base int8': fasterWhisper('int8'),
    'transformers.js, base q8': transformersJs(),
  }
  const listeners: Record<string, Listener> = {
    'myna, base q8': heardBy(subject, 'base'),
    'myna, base fp32': heardBy(subject, 'base-fp32'),
    ...Object.fromEntries(Object.entries(peers).map(([name, peer]) => [name, askedOf(peer)])),
    'myna, tiny.en q8': heardBy(subject, 'tiny.en'),
  }
  // The first answer loads the model, which is not part of the comparison.
  for (const listener of Object.values(listeners)) await listener(clips[0]!)
  const results = await hearInTurn(listeners, clips)
  await Promise.all(Object.values(peers).map((peer) => peer.end()))
  printHeard(`${clips.length} clips of real readers`, clips, results)
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
