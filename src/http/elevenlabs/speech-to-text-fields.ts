/** The form of ElevenLabs' transcription, for the API's document; ours reads it under its own names. */
import { documented } from '../fields/field.ts'
import { type RecordingLimits, transcriptionFields } from '../transcription/request.ts'

/** @param limits the configured ones, which the words state */
export const speechToTextFields = (limits: RecordingLimits) => ({
  file: transcriptionFields(limits).file,
  model_id: documented({
    type: 'string',
    examples: ['scribe_v1'],
    description:
      'A model id of this server. ElevenLabs’ own (`scribe_...`) mean the best one installed, for times of words.',
  }),
  language_code: documented({
    type: 'string',
    examples: ['en'],
    description: 'ISO 639-1 or 639-3. If absent or empty, it is detected.',
  }),
})
