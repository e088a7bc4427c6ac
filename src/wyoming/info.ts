/**
 * Says what this server can do, in the form that Home Assistant reads: it takes the first recognizer and the first
 * installed voice program, so there is exactly one of each, with all models and voices inside. Built anew for each
 * `describe`: Home Assistant asks every 30 seconds, and a new clone appears in its list then.
 */
import type { Card } from '../domain/card.ts'
import type { Voice } from '../domain/voice.ts'

const programName = 'myna'

export interface InfoFacts {
  version: string
  recognisers: readonly Card[]
  /** Installed models that speak, by id. */
  speakers: ReadonlyMap<string, Card>
  /** Voices that the account of this protocol may use. */
  voices: readonly Voice[]
}

export function infoOf({ version, recognisers, speakers, voices }: InfoFacts) {
  const program = {
    name: programName,
    attribution: { name: 'Myna', url: '' },
    installed: true,
    version,
  }
  const models = recognisers.map((card) => artifact(card.id, card.name, card.license.attribution, card.languages))
  const spoken = voices.flatMap((voice) => {
    const card = speakers.get(voice.model)
    return card === undefined ? [] : [voiceOf(voice, card)]
  })
  return {
    asr:
      models.length === 0
        ? []
        : [
            {
              ...program,
              description: 'Myna speech to text',
              supports_transcript_streaming: true,
              // The client reports when speech has ended.
              requires_external_vad: true,
              prefers_auto_gain_enabled: true,
              prefers_noise_reduction_enabled: true,
              models,
            },
          ],
    tts:
      spoken.length === 0
        ? []
        : [{ ...program, description: 'Myna text to speech', supports_synthesize_streaming: true, voices: spoken }],
    handle: [],
    intent: [],
    wake: [],
    mic: [],
    snd: [],
  }
}

const artifact = (name: string, description: string, attribution: string, languages: readonly string[]) => ({
  name,
  description,
  attribution: { name: attribution, url: '' },
  installed: true,
  version: null,
  languages,
})

/** A clone speaks every language that its model speaks. */
function voiceOf(voice: Voice, card: Card) {
  const description = voice.description === null ? voice.name : `${voice.name}: ${voice.description}`
  const languages = voice.category === 'premade' && voice.language !== null ? [voice.language] : card.languages
  return { ...artifact(voice.id, description, card.license.attribution, languages), speakers: null }
}
