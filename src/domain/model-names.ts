/**
 * Models by the names that other servers and hubs use, so that a client configured for one of those works here. Each
 * stands for a model of ours; a name never stands for other weights.
 */
const patterns: readonly [RegExp, string][] = [
  [/^(?:hexgrad\/|onnx-community\/|speaches-ai\/)?kokoro(?:-82m)?(?:-v1(?:\.0|_0)?)?(?:-onnx)?$/i, 'kokoro-82m'],
  [/^(?:systran|guillaumekln|openai|onnx-community|xenova)\/(?:faster-)?whisper-([a-z0-9.-]+?)$/i, 'whisper-$1'],
  [/^(?:deepdml|mobiuslabsgmbh)\/faster-whisper-large-v3-turbo(?:-ct2)?$/i, 'whisper-large-v3-turbo'],
  [/^(?:nvidia|istupakov)\/(parakeet-tdt-0\.6b-v[23])(?:-onnx)?$/i, '$1'],
  [/^(?:kyutai\/)pocket-tts$/i, 'pocket-tts'],
  [/^(?:usefulsensors\/)moonshine-(tiny)$/i, 'moonshine-$1'],
]

/** @returns the id of our model with the same weights; null: the name is not one of these */
export function ownModelName(name: string): string | null {
  // Distilled models are other weights.
  if (/distil/i.test(name)) return null
  for (const [pattern, id] of patterns) if (pattern.test(name)) return name.replace(pattern, id).toLowerCase()
  return null
}
