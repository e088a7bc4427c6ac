/** Decoding clips, computing on their samples, and drawing them: the ports for audio. */

export interface DecodedClip {
  /** Mono. */
  pcm: Float32Array
  sampleRateHz: number
  /** As detected. */
  container: string
  codec: string
  mimeType: string
}

export interface Decoder {
  /**
   * Audio of any supported container, found by its bytes. Ends at the limits, whatever the file says of itself.
   * @throws MynaError `clip_undecodable` in words that name an unsupported container or codec, `clip_too_long`
   */
  decode(bytes: Uint8Array, limits: { maxSeconds: number }, signal: AbortSignal): Promise<DecodedClip>
}

/** Arithmetic on samples that the service asks for; `audio` does it. */
export interface Sound {
  /** RMS of the whole in dB of full scale; silence is -Infinity. */
  levelDb(pcm: Float32Array): number
  /**
   * 16-bit samples at another rate. Yields to other work, because a clip may be long.
   * @throws RangeError if a rate is not an audio rate
   */
  resampled(pcm: Float32Array, fromHz: number, toHz: number): Promise<Int16Array>
  /**
   * Prepares a clip for cloning: 24 kHz, silence at both ends trimmed to a breath, level evened. Yields to other work.
   * @throws RangeError as above
   */
  reference(pcm: Float32Array, fromHz: number): Promise<Int16Array>
  /** A whole file: a header of 44 bytes and the samples, mono. */
  wav(pcm: Int16Array, sampleRateHz: number): Uint8Array
}

/** Waveform over spectrogram. @param pcm mono */
export type DrawVoice = (pcm: Int16Array, sampleRateHz: number, how: PictureStyle) => Promise<Uint8Array>

export interface PictureStyle {
  theme: 'light' | 'dark'
  format: 'png' | 'webp'
}
