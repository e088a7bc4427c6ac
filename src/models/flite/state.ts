/**
 * What is stored of a cloned voice: the parameters for Flite and for its audio, as JSON with a version. A state of
 * another version is refused: sounding like someone else would be worse.
 */
import { bandsHz } from './spectrum.ts'
import { type FliteVoice, voices } from './voices.ts'

const version = 1

export function writeState(voice: FliteVoice): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ flite: version, ...voice }))
}

/** @throws Error that says what is wrong, for the log: the voice has to be cloned again */
export function readState(state: Uint8Array): FliteVoice {
  let content: unknown
  try {
    content = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(state))
  } catch {
    throw new Error('this is not a cloned voice of flite: clone it again')
  }
  const found = isRecord(content) ? content : {}
  if (found['flite'] !== version) {
    throw new Error(`this voice was cloned by another version (${String(found['flite'])}): clone it again`)
  }
  const { name, features, treble, gainDb, firstMaxWords, formants, equalizerDb } = found
  const isWhole =
    typeof name === 'string' &&
    voices.has(name) &&
    isRecord(features) &&
    Object.entries(features).every(([feature, value]) => /^[a-z]\w*$/.test(feature) && isNumber(value)) &&
    [treble, gainDb].every(isNumber) &&
    isNumber(firstMaxWords) &&
    firstMaxWords >= 1 &&
    isNumber(formants) &&
    formants > 0.5 &&
    formants < 2 &&
    Array.isArray(equalizerDb) &&
    equalizerDb.length === bandsHz.length &&
    equalizerDb.every(isNumber)
  if (!isWhole) throw new Error('this cloned voice is damaged: clone it again')
  return { name, features, treble, gainDb, firstMaxWords, formants, equalizerDb } as FliteVoice
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)
