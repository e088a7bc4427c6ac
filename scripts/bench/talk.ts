/** Speech for transcription that every machine can make: sentences of four voices, with short and long pauses. */
import { fromS16 } from '../../src/audio/pcm.ts'
import { talk as clips } from '../../src/testing/speech-clips.ts'

/** Most of a minute, mono, 16 kHz. */
export const talk = async (): Promise<Float32Array> => fromS16(await clips())
