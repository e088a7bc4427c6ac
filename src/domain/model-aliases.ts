/**
 * OpenAI's names of models, which its clients ask for by default: each stands for the best model here of its task. All
 * of them, old and new, are in this one table. A name with a date or a version of its own behind it means the same.
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
  // What realtime clients send; a session here transcribes, whichever it names.
  ...named('automatic-speech-recognition', false, 'gpt-realtime-whisper', 'gpt-live-transcribe'),
  ...named('automatic-speech-recognition', false, 'gpt-realtime', 'gpt-realtime-mini', 'gpt-realtime-1.5'),
  ...named('automatic-speech-recognition', false, 'gpt-realtime-2', 'gpt-realtime-2.1', 'gpt-realtime-2.1-mini'),
]

const tasks: ReadonlyMap<string, Task> = new Map(modelAliases.map(({ name, task }) => [name, task]))

/** @returns null: the name is none of OpenAI's */
export const aliasTask = (model: string): Task | null =>
  tasks.get(model.replace(/-(\d{4}-\d{2}-\d{2}|1106)$/, '')) ?? null
