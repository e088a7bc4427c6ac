/** Talk to listen to, which every machine can make: sentences of two voices, with short pauses and long. */
import { concatS16, fromS16 } from '../../src/audio/pcm.ts'
import { silence, speech } from '../../src/testing/speech-clips.ts'
import { texts } from './texts.ts'

/** A minute or so, mono, 16 kHz. */
export async function talk(): Promise<Float32Array> {
  const said = []
  for (const [index, text] of texts.entries()) {
    said.push(await speech(text, index % 2 === 0 ? 'rms' : 'slt'), silence([0.2, 0.5, 0.9, 2.5][index % 4]!))
  }
  return fromS16(concatS16(said))
}
