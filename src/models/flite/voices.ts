/**
 * How Flite is asked for each voice of the card, and what is done to its sound. Flite takes an unknown voice name for
 * its first voice without a word, so a name is looked up here before it gets there.
 */
export interface FliteVoice {
  /** Flite's own name of the voice. */
  name: string
  /** Further features, as `--setf` takes them. */
  features: Readonly<Record<string, number>>
  /** Brings speech to `levelDb`: the voices were recorded at levels 13 dB apart. */
  gainDb: number
}

/** What the gains below aim at: RMS of a sentence without its pauses, in dB of full scale. */
export const levelDb = -21

export const voices: Readonly<Record<string, FliteVoice>> = {
  rms: { name: 'rms', features: {}, gainDb: -0.6 },
  slt: { name: 'slt', features: { int_f0_target_stddev: 50 }, gainDb: -6.4 },
  awb: { name: 'awb', features: { int_f0_target_stddev: 45 }, gainDb: -1.8 },
  kal16: { name: 'kal16', features: {}, gainDb: 6.8 },
}
