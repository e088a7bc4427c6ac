/**
 * ElevenLabs' names of models, which its clients always send: `eleven_...` for speech, `scribe_...` for transcription.
 * Each means the best model here, as OpenAI's names do.
 */

/** Those that lists of models show: clients look there for the one that they are set to. */
export const listedNames = ['eleven_multilingual_v2', 'eleven_flash_v2_5', 'eleven_turbo_v2_5', 'eleven_v3'] as const

/** @returns null: the best one */
export const ownModel = (name: string | null): string | null =>
  name === null || /^(eleven|scribe)_\w+$/.test(name) ? null : name
