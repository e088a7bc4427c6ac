/** The table of contents of ElevenLabs' API, as far as it is served here. */
import type { Endpoint } from '../endpoint.ts'
import type { ModelsParts } from '../models.ts'
import type { SpeechParts } from '../speech/speech.ts'
import type { TranscriptionsParts } from '../transcription/transcriptions.ts'
import type { ReadyCloneParts } from '../voices/ready-clone.ts'
import type { VoicesParts } from '../voices/voices.ts'
import { sharedModelEndpoints } from './models.ts'
import { speechToTextEndpoints } from './speech-to-text.ts'
import { textToSpeechEndpoints } from './text-to-speech.ts'
import { userEndpoints, type UserParts } from './user.ts'
import { sharedVoiceEndpoints, voiceEndpoints } from './voices.ts'

export interface ElevenLabsParts {
  speech: SpeechParts
  voices: VoicesParts & ReadyCloneParts
  models: ModelsParts
  account: UserParts
  transcriptions: TranscriptionsParts
}

/** Under paths that ours have too. */
export const sharedEndpoints = ({ voices, models }: ElevenLabsParts): readonly Endpoint[] => [
  ...sharedVoiceEndpoints(voices),
  ...sharedModelEndpoints(models),
]

/** Under paths of its own. */
export const ownEndpoints = ({ speech, voices, account, transcriptions }: ElevenLabsParts): readonly Endpoint[] => [
  ...textToSpeechEndpoints(speech),
  ...speechToTextEndpoints(transcriptions),
  ...voiceEndpoints(voices),
  ...userEndpoints(account),
]
