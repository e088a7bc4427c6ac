/**
 * The approximate clone: one of Flite's voices, brought to the pitch, the size and the colour of a clip. It is the
 * manner of speaking that is not cloned, and much of what makes a person: `models/flite.json` calls it approximate.
 *
 * - **Pitch**: the median by YIN, which Flite's own model of pitch is then asked for. The range stays the voice's own:
 *   with the clip's, likeness gains 0.01 and the quality of the sound loses half a point (DNSMOS 3.5 to 2.9).
 * - **Size**: a shorter vocal tract has higher formants. They are not measured but inferred: over speakers they go
 *   about with the cube root of pitch (the sensory reference of J. D. Miller, "Auditory-perceptual interpretation of
 *   the vowel", J. Acoust. Soc. Am. 85, 1989). Flite speaks slower and lower, and what it said is played faster: that
 *   moves the formants and nothing else.
 * - **Colour**: third octaves, within limits.
 *
 * The clone speaks a sentence and is measured like the clip: what is left of the differences is what is corrected.
 *
 * Six readers (LibriSpeech), one clip each: likeness by Resemblyzer (the same reader: 0.92, two readers: 0.57), sound
 * by DNSMOS, words misheard by PocketSphinx. Colour counts most; high voices become harder to understand.
 *
 * |                                          | likeness | DNSMOS | misheard |
 * | ---------------------------------------- | -------- | ------ | -------- |
 * | the voice nearest in pitch, as it is     | 0.54     | 3.5    | 20 %     |
 * | the same, at the clip's pitch            | 0.53     | 3.4    | 22 %     |
 * | this clone                               | 0.65     | 3.5    | 36 %     |
 * | this clone made of slt                   | 0.61     | 3.2    | 40 %     |
 * | this clone without moved formants        | 0.60     | 3.5    |          |
 * | this clone without colour                | 0.52     | 3.5    |          |
 */
import { levelDb } from '../../audio/pcm.ts'
import { measurePitch, type Pitch } from '../../audio/pitch.ts'
import { Resampler } from '../../audio/resample.ts'
import { type Clip, ClipRefused } from '../architecture.ts'
import { bandLevels, bandsHz } from './spectrum.ts'
import { type FliteVoice, levelDb as wantedDb, voices } from './voices.ts'

const sentence = 'The birds that imitate voices learn them from anyone who speaks nearby.'

/** Always the same one: of all that take a pitch it gives the best likeness, also for women. */
const base = voices.get('awb')!
const baseHz = 130

const voicedSMin = 0.3
/** What Flite can be asked for. */
const hzMin = 70
const hzMax = 320
const formantsMin = 0.88
const formantsMax = 1.2
/** A cut does no harm; a boost brings up the noise of the clip. */
const cutDbMax = 20
const boostDbMax = 12
const rateHz = 16_000

/**
 * @param say speaks the text with a voice @returns what `speak` needs to speak with it
 * @throws ClipRefused when nothing in the clip has a pitch; the signal's reason once it aborts
 */
export async function cloneVoice(
  clip: Clip,
  say: (voice: FliteVoice, text: string) => Promise<Clip>,
  signal: AbortSignal,
): Promise<FliteVoice> {
  const heard = await measure(clip, signal)
  if (heard === null) {
    throw new ClipRefused(
      'No voice with a pitch was found in this recording. Record a few sentences, spoken normally and close to the ' +
        'microphone.',
    )
  }
  const hz = limited(heard.pitch.medianHz, hzMin, hzMax)
  const plain = voiceAt(heard.pitch, hz)
  const said = await measure(await say(plain, sentence), signal)
  if (said === null) throw new Error('what flite said has no pitch')
  const shaped: FliteVoice = {
    ...voiceAt(heard.pitch, hz * (hz / said.pitch.medianHz)),
    equalizerDb: correction(heard.bands, said.bands),
  }
  const loud = levelDb((await say(shaped, sentence)).pcm)
  return { ...shaped, gainDb: round(shaped.gainDb + wantedDb - loud, 10) }
}

/** @param clip whose size it gets @param hz the pitch at which Flite should be heard */
function voiceAt(clip: Pitch, hz: number): FliteVoice {
  const formants = round(limited(Math.cbrt(clip.medianHz / baseHz), formantsMin, formantsMax), 100)
  const mean = hz / formants
  const range = base.features['int_f0_target_stddev']! / baseHz
  return {
    ...base,
    features: { int_f0_target_mean: round(mean, 10), int_f0_target_stddev: round(mean * range, 10) },
    formants,
  }
}

async function measure(
  { pcm, sampleRateHz }: Clip,
  signal: AbortSignal,
): Promise<{ pitch: Pitch; bands: number[] } | null> {
  const pause = () =>
    new Promise<void>((resolve, reject) => setImmediate(() => (signal.aborted ? reject(signal.reason) : resolve())))
  const pitch = await measurePitch(pcm, sampleRateHz, pause)
  if (pitch === null || pitch.voicedS < voicedSMin) return null
  await pause()
  const resampler = new Resampler(sampleRateHz, rateHz)
  const bands = bandLevels(resampler.push(pcm), rateHz)
  return bands === null ? null : { pitch, bands }
}

/** From the original to what is heard, apart from the level. */
function correction(heard: readonly number[], said: readonly number[]): number[] {
  const differences = bandsHz.map((_, band) => heard[band]! - said[band]!)
  const middle = differences.toSorted((a, b) => a - b)[differences.length >> 1]!
  return differences.map((db) => round(limited(db - middle, -cutDbMax, boostDbMax), 10))
}

const limited = (value: number, min: number, max: number): number => Math.min(max, Math.max(min, value))

const round = (value: number, steps: number): number => Math.round(value * steps) / steps
