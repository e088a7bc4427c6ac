/**
 * Settings with which a server can start but that are probably mistakes: names of voices that do not exist, and unknown
 * variables that look like settings. Reported at the start, to the operator who can fix them; a client would only see
 * its request fail.
 */
import { type Config, unknownSettings } from '../../config.ts'
import { formerNameWarning, formerVoices } from '../../domain/former-names.ts'
import { isIdOf } from '../../domain/id.ts'
import { parseMixture } from '../../domain/mixture.ts'
import type { Catalog } from '../../service/ports.ts'

type VoiceSettings = Pick<Config, 'defaultVoice' | 'voiceAliases'>

/** @returns one sentence each */
export function settingsWarnings(
  config: VoiceSettings,
  catalog: Catalog,
  env?: Record<string, string | undefined>,
): readonly string[] {
  const strangers = unknownSettings(env).map((name) => `${name} is not a setting of this version and is ignored`)
  return [...strangers, ...voicesMissing(config, catalog)]
}

function voicesMissing({ defaultVoice, voiceAliases }: VoiceSettings, catalog: Catalog): string[] {
  const pairs = voiceAliases.map((pair) => pair.split('=') as [string, string])
  const aliases = new Set(pairs.map(([name]) => name.toLowerCase()))
  const known = presetNames(catalog)
  const isMissing = (voice: string) => !mayBeOwned(voice) && !known.has(voice.toLowerCase())
  const missing = pairs
    .filter(([, voice]) => isMissing(voice))
    .map(([name, voice]) =>
      former(voice, known, 'MYNA_VOICE_ALIASES', `MYNA_VOICE_ALIASES: ${name} stands for ${voice}, ${absent}`),
    )
  const isDefaultMissing = defaultVoice !== '' && !aliases.has(defaultVoice.toLowerCase()) && isMissing(defaultVoice)
  const ofDefault = `MYNA_DEFAULT_VOICE is ${defaultVoice}, ${absent}`
  return isDefaultMissing ? [former(defaultVoice, known, 'MYNA_DEFAULT_VOICE', ofDefault), ...missing] : missing
}

/** @returns `otherwise`, unless the voice is one that another speaks for now */
function former(voice: string, known: ReadonlySet<string>, setting: string, otherwise: string): string {
  const successor = formerVoices.get(voice.toLowerCase())
  if (successor === undefined || !known.has(successor)) return otherwise
  return `${setting}: ${formerNameWarning('voice', voice, successor)}`
}

const absent = 'which no installed model has: myna voices list'

/** Clones are only in the database and change while the server runs; mixtures consist of several names. */
const mayBeOwned = (voice: string): boolean => isIdOf('voice', voice) || parseMixture(voice) !== null

/** Ids, names and aliases, in lower case. */
function presetNames(catalog: Catalog): ReadonlySet<string> {
  const installed = catalog.ranked('text-to-speech')
  const names = installed.flatMap(({ voices, voiceAliases }) => [
    ...voices.flatMap(({ id, name }) => [id.toLowerCase(), name.toLowerCase()]),
    ...Object.keys(voiceAliases),
  ])
  return new Set(names)
}
