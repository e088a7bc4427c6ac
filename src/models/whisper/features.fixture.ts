/** The sounds behind the golden numbers of the features, and which frames of them were kept. */
import { concatS16, fromS16 } from '../../audio/pcm.ts'
import { buzz, noise, silence, speech, tone } from '../../testing/speech-clips.ts'

export async function featureClips(): Promise<Record<string, Float32Array>> {
  return {
    speech: fromS16(concatS16([await speech('Good morning to you all.'), silence(0.3)])),
    sounds: fromS16(concatS16([tone(0.4, 440), buzz(0.5, 130, 3), noise(0.3, 20)])),
    quiet: fromS16(noise(0.7, 0.0003)),
    click: fromS16(concatS16([silence(0.2), Int16Array.of(32_767), silence(0.2)])),
    nothing: new Float32Array(4000),
    shorterThanItsMirror: fromS16(noise(0.011)),
  }
}

/** Every seventh. */
export const goldenFrames = (row: readonly number[]): number[] => row.filter((_, frame) => frame % 7 === 0)
