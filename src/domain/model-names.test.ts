import { expect, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import { ownModelName } from './model-names.ts'

test.each([
  ['kokoro', 'kokoro-82m'],
  ['hexgrad/Kokoro-82M', 'kokoro-82m'],
  ['onnx-community/Kokoro-82M-v1.0-ONNX', 'kokoro-82m'],
  ['speaches-ai/Kokoro-82M-v1.0-ONNX', 'kokoro-82m'],
  ['Systran/faster-whisper-base', 'whisper-base'],
  ['Systran/faster-whisper-small.en', 'whisper-small.en'],
  ['openai/whisper-large-v3-turbo', 'whisper-large-v3-turbo'],
  ['deepdml/faster-whisper-large-v3-turbo-ct2', 'whisper-large-v3-turbo'],
  ['nvidia/parakeet-tdt-0.6b-v3', 'parakeet-tdt-0.6b-v3'],
  ['kyutai/pocket-tts', 'pocket-tts'],
])('%s becomes %s, which is one of our models', (name, id) => {
  expect(ownModelName(name)).toBe(id)
  expect(cards.map((card) => card.id)).toContain(id)
})

test.each(['whisper-base', 'tts-1', 'Systran/faster-distil-whisper-large-v3', 'me/kokoro-finetune', ''])(
  '%p stays unchanged',
  (name) => {
    expect(ownModelName(name)).toBeNull()
  },
)
