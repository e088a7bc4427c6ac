/** The content types of audio and pictures, for answers and the API's document. */
import type { AudioFormat } from '../domain/speech.ts'

export const audioTypes: Readonly<Record<AudioFormat, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
}

export const pictureTypes = { png: 'image/png', webp: 'image/webp' } as const
