/**
 * Finds the voices whose model is there, and makes a clone again whose model is gone: from the clip that was kept,
 * free of charge. Id, aliases and preview address stay.
 */
import type { Caller } from '../domain/account.ts'
import type { Card } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { canSee, owns, type Voice } from '../domain/voice.ts'
import type { Catalog, VoiceFiles, Voices } from './ports.ts'
import type { CheckedClip } from './clip.ts'
import { notReady, unknownVoice, unusable } from './voice-refusals.ts'

type MadeWith = Pick<Voice, 'category' | 'model' | 'status'>

/** Whether it can be spoken with now. */
export function isUsable({ category, model, status }: MadeWith, catalog: Catalog): boolean {
  if (status !== 'ready') return false
  return category === 'premade' || speakersOf(model, catalog).length > 0
}

/** The family of a model's card. Of a card that is gone, only the name is left, which was its family's, too. */
export const familyOf = (model: string, catalog: Catalog): string =>
  catalog.cards().find(({ id }) => id === model)?.family ?? model

/** The installed models that clones made with this one speak with, the preferred first. */
export function speakersOf(model: string, catalog: Catalog): Card[] {
  const family = familyOf(model, catalog)
  return catalog.ranked('text-to-speech').filter((card) => card.family === family && card.cloning !== null)
}

/** Whether no card knows the model any more: then nothing can be installed for it. */
export const isModelGone = ({ category, model }: MadeWith, catalog: Catalog): boolean =>
  category === 'cloned' && !catalog.cards().some(({ id, family }) => id === model || family === model)

export const modelGone = ({ id, model }: Voice, wanted: string): MynaError =>
  unusable(
    `The voice '${wanted}' was made for the model '${model}', which was removed. ` +
      `Make it again from its clip, free of charge: myna voices remake ${id}`,
  )

export interface Remakable {
  voice: Voice
  clip: Uint8Array
  reference: CheckedClip['reference']
}

const wavHeaderBytes = 44
const referenceHz = 24_000

/**
 * @throws MynaError `voice_not_found`, `voice_not_owned`, `voice_not_ready`, `voice_unusable` (there is no clip),
 * `validation_error` (it needs no remake)
 */
export async function remakable(
  caller: Caller,
  id: string,
  { catalog, voices, files }: { catalog: Catalog; voices: Voices; files: VoiceFiles },
): Promise<Remakable> {
  const voice = await voices.find(id)
  if (voice === null || !canSee(voice, caller)) throw unknownVoice(id, 'voice_id')
  if (!owns(voice, caller)) {
    throw new MynaError('voice_not_owned', 'Only its owner may make this voice again.', { param: 'voice_id' })
  }
  if (voice.status === 'processing') throw notReady('voice_id')
  if (voice.status === 'failed' || !isModelGone(voice, catalog)) {
    const message = 'Only a voice that was made for a model which was removed can be made again.'
    throw new MynaError('validation_error', message, { param: 'voice_id' })
  }
  const [clip, reference] = await Promise.all([files.read(id, 'clip'), files.read(id, 'reference.wav')])
  if (clip === null || reference === null) throw unusable('The clip of this voice is missing. Clone it from a new one.')
  const pcm = new Int16Array(reference.slice(wavHeaderBytes).buffer)
  return { voice, clip, reference: { pcm, sampleRateHz: referenceHz } }
}
