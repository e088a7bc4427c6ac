/**
 * The parameters of each voice of the card, for Flite and for its audio. Flite silently uses its first voice for an
 * unknown name, so names are checked here before.
 */
export interface FliteVoice {
  /** Flite's own name of the voice. */
  name: string
  /**
   * Further features, as `--setf` takes them. A wider range of pitch than Flite's own makes slt and awb less monotonous
   * (DNSMOS 2.8 to 3.1 and 3.1 to 3.3, fewer words misheard); rms knows no such feature, kal16 gets worse by it.
   */
  features: Readonly<Record<string, number>>
  /** How much of what is above 1 kHz is added; 0: none. Only slt gains by it (DNSMOS 3.1 to 3.3). */
  treble: number
  /** Brings speech to `levelDb`: the voices were recorded at levels 13 dB apart. */
  gainDb: number
  /**
   * Longest first chunk: as much as is ready in about 70 ms, because the client waits for its sound. A cut sentence is
   * harder to understand (kal16 cut at 12 words: 14 % of the words misheard, whole 10 %), so it is no shorter than
   * that; kal16 is ten times as fast and is not cut.
   */
  firstMaxWords: number
  /** How far the formants are raised; 1: not at all, up to two decimals. */
  formants: number
  /** Gains of `spectrum.ts`'s bands; null: its colour is left alone. */
  equalizerDb: readonly number[] | null
}

/** Target of the gains below: RMS of a sentence without its pauses, in dB of full scale. */
export const levelDb = -21

const unshaped = { formants: 1, equalizerDb: null }

export const voices: ReadonlyMap<string, FliteVoice> = new Map(
  Object.entries({
    rms: { ...unshaped, name: 'rms', features: {}, treble: 0, gainDb: -0.6, firstMaxWords: 15 },
    slt: {
      ...unshaped,
      name: 'slt',
      features: { int_f0_target_stddev: 50 },
      treble: 2,
      gainDb: -7.8,
      firstMaxWords: 15,
    },
    awb: {
      ...unshaped,
      name: 'awb',
      features: { int_f0_target_stddev: 45 },
      treble: 0,
      gainDb: -1.8,
      firstMaxWords: 15,
    },
    kal16: { ...unshaped, name: 'kal16', features: {}, treble: 0, gainDb: 6.8, firstMaxWords: 60 },
  }),
)
