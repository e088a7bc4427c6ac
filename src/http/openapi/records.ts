/** The records of answers by the names that the API's document gives them. */
import { accountRecord } from '../account-record.ts'
import { deletedModel, modelAnswer } from '../model-record.ts'
import { done, subscription, timedSpeech, user, voicePage } from '../elevenlabs/records.ts'
import { transcript } from '../elevenlabs/transcript-record.ts'
import { adminOperation, cancelled, listedOperation, operationRecord } from '../operations/record.ts'
import { healthRecord, readinessRecord, serviceRecord } from '../readiness-record.ts'
import { speechDelta, speechDone, speechEvents, speechTimestamps } from '../speech/records.ts'
import {
  transcriptDelta,
  transcriptDone,
  transcriptEvents,
  transcription,
  transcriptSegment,
  verboseTranscription,
} from '../transcription/records.ts'
import { usagePageRecord } from '../usage-record.ts'
import { consentDeleted, consentRecord, exampleConsentId } from '../voices/consent-record.ts'
import { audioVoiceDeleted, audioVoiceRecord, exampleVoiceId, newVoiceRecord, voiceAnswer } from '../voices/record.ts'
import * as is from './shapes.ts'

const voiceRef = is.named('Voice', voiceAnswer)
const modelRef = is.named('Model', modelAnswer)
const older = { has_more: is.flag(false, 'Whether older ones exist.') }

export const answerRecords = {
  SpeechEvents: speechEvents,
  SpeechDeltaEvent: speechDelta,
  SpeechTimestampsEvent: speechTimestamps,
  SpeechDoneEvent: speechDone,
  TimedSpeech: timedSpeech,
  SpeechErrorEvent: is.record('', { type: is.constant('error'), error: is.named('ErrorObject', is.text()) }),
  Transcription: transcription,
  VerboseTranscription: verboseTranscription,
  TranscriptEvents: transcriptEvents,
  TranscriptDeltaEvent: transcriptDelta,
  TranscriptSegmentEvent: transcriptSegment,
  TranscriptDoneEvent: transcriptDone,
  Transcript: transcript,
  Voice: voiceAnswer,
  VoiceList: is.listOf(voiceRef, {
    ...is.page(exampleVoiceId),
    total_count: is.count(1),
    voices: is.optional(is.list(voiceRef, 'The same as `data`.')),
  }),
  AudioVoice: audioVoiceRecord,
  AudioVoiceDeleted: audioVoiceDeleted,
  ClonedVoice: newVoiceRecord,
  VoicePage: voicePage,
  Done: done,
  Consent: consentRecord,
  ConsentList: is.listOf(is.named('Consent', consentRecord), is.page(exampleConsentId)),
  ConsentDeleted: consentDeleted,
  Operation: operationRecord,
  OperationList: is.listOf(listedOperation, older),
  AdminOperation: adminOperation,
  AdminOperationList: is.listOf(is.named('AdminOperation', adminOperation), older),
  Cancelled: cancelled,
  Model: modelAnswer,
  ModelList: is.listOf(modelRef, is.page('hibari')),
  DeletedModel: deletedModel,
  SpeechModelList: is.listOf(modelRef, {
    models: is.list(is.record('', { id: is.text('hibari'), name: is.text('hibari') })),
  }),
  Account: accountRecord,
  User: user,
  Subscription: subscription,
  UsagePage: usagePageRecord,
  Health: healthRecord,
  Readiness: readinessRecord,
  Service: serviceRecord,
}
