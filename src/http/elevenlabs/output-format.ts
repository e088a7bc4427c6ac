/**
 * ElevenLabs' names of sound: codec, sampling rate and bit rate in one word. Files say their own rate, so every mp3 and
 * opus is the one that our encoders make; raw samples have the rate that was asked for.
 */
import { type AudioFormat, defaultSampleRateHz, sampleRatesHz } from '../../domain/speech.ts'
import { type Field, withDefault } from '../fields/field.ts'
import { choice } from '../fields/kinds.ts'

export interface Sound {
  format: AudioFormat
  sampleRateHz: number
}

const fileRates = {
  mp3: ['22050_32', '24000_48', '44100_32', '44100_64', '44100_96', '44100_128', '44100_192'],
  opus: ['48000_32', '48000_64', '48000_96', '48000_128', '48000_192'],
} as const

const ofFiles = (format: 'mp3' | 'opus'): [string, Sound][] =>
  fileRates[format].map((rates) => [`${format}_${rates}`, { format, sampleRateHz: defaultSampleRateHz }])
const ofSamples = (format: 'pcm' | 'wav'): [string, Sound][] =>
  sampleRatesHz.map((sampleRateHz) => [`${format}_${sampleRateHz}`, { format, sampleRateHz }])

const sounds = new Map([...ofFiles('mp3'), ...ofFiles('opus'), ...ofSamples('pcm'), ...ofSamples('wav')])
const usual: Sound = { format: 'mp3', sampleRateHz: defaultSampleRateHz }

const name = withDefault(
  choice([...sounds.keys()], {
    about:
      'Codec, sampling rate, bit rate. `pcm` and `wav` have the named rate. Every `mp3` and `opus` has the rates of ' +
      'our encoders, and says so itself. `ulaw_8000`, `alaw_8000` and `pcm_32000` are refused.',
  }),
  'mp3_44100_128',
)

export const outputFormat: Field<Sound> = {
  ...name,
  parse: (given, refuse) => sounds.get(name.parse(given, refuse)) ?? usual,
}
