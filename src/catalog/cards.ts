/**
 * Every card of this program. The imports are static so that the bundler puts the cards into the executable; a test
 * compares the list with the folder `models/`.
 */
import flite from '../../models/flite.json' with { type: 'json' }
import kokoro82m from '../../models/kokoro-82m.json' with { type: 'json' }
import kokoro82mFp16 from '../../models/kokoro-82m-fp16.json' with { type: 'json' }
import kokoro82mQ8 from '../../models/kokoro-82m-q8.json' with { type: 'json' }
import parakeetTdt06bV2 from '../../models/parakeet-tdt-0.6b-v2.json' with { type: 'json' }
import parakeetTdt06bV2Fp32 from '../../models/parakeet-tdt-0.6b-v2-fp32.json' with { type: 'json' }
import parakeetTdt06bV3 from '../../models/parakeet-tdt-0.6b-v3.json' with { type: 'json' }
import parakeetTdt06bV3Fp32 from '../../models/parakeet-tdt-0.6b-v3-fp32.json' with { type: 'json' }
import pocketTts from '../../models/pocket-tts.json' with { type: 'json' }
import pocketTtsDutch from '../../models/pocket-tts-dutch.json' with { type: 'json' }
import pocketTtsFp32 from '../../models/pocket-tts-fp32.json' with { type: 'json' }
import pocketTtsFrench from '../../models/pocket-tts-french.json' with { type: 'json' }
import pocketTtsGerman from '../../models/pocket-tts-german.json' with { type: 'json' }
import pocketTtsItalian from '../../models/pocket-tts-italian.json' with { type: 'json' }
import pocketTtsPortuguese from '../../models/pocket-tts-portuguese.json' with { type: 'json' }
import pocketTtsSpanish from '../../models/pocket-tts-spanish.json' with { type: 'json' }
import whisperBase from '../../models/whisper-base.json' with { type: 'json' }
import whisperBaseFp32 from '../../models/whisper-base-fp32.json' with { type: 'json' }
import whisperBaseWords from '../../models/whisper-base-words.json' with { type: 'json' }
import whisperBaseEn from '../../models/whisper-base.en.json' with { type: 'json' }
import whisperLargeV3Turbo from '../../models/whisper-large-v3-turbo.json' with { type: 'json' }
import whisperLargeV3TurboFp32 from '../../models/whisper-large-v3-turbo-fp32.json' with { type: 'json' }
import whisperLargeV3TurboWords from '../../models/whisper-large-v3-turbo-words.json' with { type: 'json' }
import whisperSmall from '../../models/whisper-small.json' with { type: 'json' }
import whisperSmallFp32 from '../../models/whisper-small-fp32.json' with { type: 'json' }
import whisperSmallWords from '../../models/whisper-small-words.json' with { type: 'json' }
import whisperSmallEn from '../../models/whisper-small.en.json' with { type: 'json' }
import whisperTiny from '../../models/whisper-tiny.json' with { type: 'json' }
import whisperTinyWords from '../../models/whisper-tiny-words.json' with { type: 'json' }
import whisperTinyEn from '../../models/whisper-tiny.en.json' with { type: 'json' }
import type { Card } from '../domain/card.ts'
import { CardError, readCard } from './check.ts'
import { resolveVariants } from './variants.ts'

/**
 * Cards read from parsed files, by file name.
 * @throws CardError naming file and field, also where two cards claim one id, or two families one voice
 */
export function readCards(files: Readonly<Record<string, unknown>>): readonly Card[] {
  const owners = new Map<string, { file: string; family: string }>()
  const claim = (id: string, file: string, field: string, family: string) => {
    const other = owners.get(`${field} ${id}`)
    if (other !== undefined && (field === 'id' || other.family !== family)) {
      throw new CardError(`${file}: ${field}: ${JSON.stringify(id)} is taken by ${other.file}`)
    }
    owners.set(`${field} ${id}`, { file, family })
  }
  return Object.entries(resolveVariants(files)).map(([file, json]) => {
    const card = readCard(file, json)
    claim(card.id, file, 'id', card.family)
    for (const voice of card.voices) claim(voice.id, file, 'voices.id', card.family)
    return card
  })
}

export const cards: readonly Card[] = readCards({
  'flite.json': flite,
  'kokoro-82m.json': kokoro82m,
  'kokoro-82m-fp16.json': kokoro82mFp16,
  'kokoro-82m-q8.json': kokoro82mQ8,
  'parakeet-tdt-0.6b-v2.json': parakeetTdt06bV2,
  'parakeet-tdt-0.6b-v2-fp32.json': parakeetTdt06bV2Fp32,
  'parakeet-tdt-0.6b-v3.json': parakeetTdt06bV3,
  'parakeet-tdt-0.6b-v3-fp32.json': parakeetTdt06bV3Fp32,
  'pocket-tts.json': pocketTts,
  'pocket-tts-dutch.json': pocketTtsDutch,
  'pocket-tts-fp32.json': pocketTtsFp32,
  'pocket-tts-french.json': pocketTtsFrench,
  'pocket-tts-german.json': pocketTtsGerman,
  'pocket-tts-italian.json': pocketTtsItalian,
  'pocket-tts-portuguese.json': pocketTtsPortuguese,
  'pocket-tts-spanish.json': pocketTtsSpanish,
  'whisper-base.json': whisperBase,
  'whisper-base-fp32.json': whisperBaseFp32,
  'whisper-base-words.json': whisperBaseWords,
  'whisper-base.en.json': whisperBaseEn,
  'whisper-large-v3-turbo.json': whisperLargeV3Turbo,
  'whisper-large-v3-turbo-fp32.json': whisperLargeV3TurboFp32,
  'whisper-large-v3-turbo-words.json': whisperLargeV3TurboWords,
  'whisper-small.json': whisperSmall,
  'whisper-small-fp32.json': whisperSmallFp32,
  'whisper-small-words.json': whisperSmallWords,
  'whisper-small.en.json': whisperSmallEn,
  'whisper-tiny.json': whisperTiny,
  'whisper-tiny-words.json': whisperTinyWords,
  'whisper-tiny.en.json': whisperTinyEn,
})
