import { expect, test } from 'bun:test'
import { aliasTask } from './model-aliases.ts'

test.each(['tts-1', 'tts-1-1106', 'tts-1-hd', 'gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-12-15'])('%s speaks', (name) => {
  expect(aliasTask(name)).toBe('text-to-speech')
})

test.each([
  'whisper-1',
  'gpt-transcribe',
  'gpt-4o-transcribe',
  'gpt-4o-mini-transcribe-2025-12-15',
  'gpt-4o-transcribe-diarize',
  'gpt-live-transcribe',
  'gpt-realtime-whisper',
  'gpt-realtime',
  'gpt-realtime-2025-08-28',
  'gpt-realtime-2.1-mini',
])('%s transcribes', (name) => {
  expect(aliasTask(name)).toBe('automatic-speech-recognition')
})

test.each(['', 'gpt-4o', 'tts-2', 'whisper-base', 'gpt-audio-1.5', 'constructor'])('%p is not an alias', (name) => {
  expect(aliasTask(name)).toBeNull()
})
