/**
 * OpenAI's model names, which its clients request by default: each stands for the best model here for its task. This
 * table has all of them, old and new. A name followed by a date or version means the same.
 */
import type { Task } from './card.ts'

interface ModelAlias {
  name: string
  task: Task
  /** Whether pickers of models show it. The others are only accepted: they belong to one kind of session. */
  isListed: boolean
}

const named = (task: Task, isListed: boolean, ...names: string[]): ModelAlias[] =>
  names.map((name) => ({ name, task, isListed }))

export const modelAliases: readonly ModelAlias[] = [
  ...named('text-to-speech', true, 'tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'),
  ...named('automatic-speech-recognition', true, 'whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe'),
  ...named('automatic-speech-recognition', true, 'gpt-transcribe'),
  ...named('automatic-speech-recognition', false, 'gpt-4o-transcribe-diarize'),
  // Sent by realtime clients; a session here transcribes, whichever one it names.
  ...named('automatic-speech-recognition', false, 'gpt-realtime-whisper', 'gpt-live-transcribe'),
  ...named('automatic-speech-recognition', false, 'gpt-realtime', 'gpt-realtime-mini', 'gpt-realtime-1.5'),
  ...named('automatic-speech-recognition', false, 'gpt-realtime-2', 'gpt-realtime-2.1', 'gpt-realtime-2.1-mini'),
]

const tasks: ReadonlyMap<string, Task> = new Map(modelAliases.map(({ name, task }) => [name, task]))

/** @returns null: the name is not one of OpenAI's */
export const aliasTask = (model: string): Task | null =>
  tasks.get(model.replace(/-(\d{4}-\d{2}-\d{2}|1106)$/, '')) ?? null
