/** A complete transcript in each of the formats of docs/api.md 3.2. */
import { estimatedWords } from '../../domain/estimated-words.ts'
import { languageName } from '../../domain/language.ts'
import { srt, vtt } from '../../domain/subtitles.ts'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import type { Transcribing } from '../../service/transcribing.ts'
import { json } from '../exchange.ts'
import type { AnswerForm } from './request.ts'

/** Reads it to its end. @throws the MynaError that ended it */
export async function wholeTranscript(transcribing: Transcribing, form: AnswerForm): Promise<Response> {
  const response = await answered(transcribing, form)
  // Text and subtitles have no other place for this.
  const { skipped_seconds: skipped } = skippedOf(transcribing)
  if (skipped !== undefined) response.headers.set('x-skipped-seconds', String(skipped))
  return response
}

async function answered(transcribing: Transcribing, { format, granularities }: AnswerForm): Promise<Response> {
  const segments: TranscriptSegment[] = []
  for (let part = await transcribing.next(); part !== null; part = await transcribing.next()) {
    segments.push(...part.segments)
  }
  const text = textOf(segments)
  switch (format) {
    case 'json':
      return json({ text, ...languagesOf(transcribing), usage: usageOf(transcribing), ...skippedOf(transcribing) })
    case 'verbose_json':
      return json(verbose(transcribing, segments, text, granularities))
    case 'text':
      return plain('text/plain', `${text}\n`)
    case 'srt':
      return plain('text/plain', srt(segments))
    case 'vtt':
      return plain('text/vtt', vtt(segments))
  }
}

/** The detected language; a translation is English. */
export function languagesOf({ order, language }: Transcribing): { languages?: { code: string }[] } {
  const code = order.task === 'translate' ? 'en' : language
  return code === null ? {} : { languages: [{ code }] }
}

/** Seconds that could not be decoded; absent if there are none. Known only at the end. */
export const skippedOf = ({ skippedMs }: Transcribing): { skipped_seconds?: number } =>
  skippedMs === 0 ? {} : { skipped_seconds: seconds(skippedMs) }

function verbose(
  transcribing: Transcribing,
  segments: readonly TranscriptSegment[],
  text: string,
  granularities: AnswerForm['granularities'],
) {
  const { task } = transcribing.order
  const [language] = languagesOf(transcribing).languages ?? []
  return {
    task,
    // Without speech no language can be detected, but clients insist on a text.
    language: language === undefined ? 'unknown' : languageName(language.code),
    duration: seconds(transcribing.durationMs ?? 0),
    text,
    ...(granularities.has('segment') ? { segments: segments.map(segmentRecord) } : {}),
    ...(granularities.has('word') ? wordsOf(segments) : {}),
    usage: usageOf(transcribing),
    ...skippedOf(transcribing),
  }
}

/** All ten fields, always: some clients refuse the whole answer if one is missing. */
export const segmentRecord = (segment: TranscriptSegment, id: number) => ({
  id,
  // In frames of 10 ms, as Whisper counts.
  seek: Math.round(segment.seekMs / 10),
  start: seconds(segment.startMs),
  end: seconds(segment.endMs),
  text: segment.text.toWellFormed(),
  tokens: segment.tokens,
  temperature: segment.temperature,
  avg_logprob: segment.avgLogprob,
  compression_ratio: segment.compressionRatio,
  no_speech_prob: segment.noSpeechProb,
})

/** Estimated where the model has none: an empty list would say that nothing was said. */
function wordsOf(segments: readonly TranscriptSegment[]) {
  const isEstimated = segments.some(({ words, text }) => words === null && text.trim() !== '')
  const words = segments.flatMap((segment) => segment.words ?? estimatedWords(segment))
  const records = words.map(({ text, startMs, endMs }) => ({
    word: text.toWellFormed(),
    start: seconds(startMs),
    end: seconds(endMs),
  }))
  return { words: records, ...(isEstimated ? { words_estimated: true } : {}) }
}

const usageOf = ({ durationMs }: Transcribing) => ({ type: 'duration', seconds: Math.ceil((durationMs ?? 0) / 1000) })

function textOf(segments: readonly TranscriptSegment[]): string {
  const text = new TranscriptText()
  for (const segment of segments) text.add(segment.text)
  return text.toString()
}

const seconds = (ms: number): number => Math.round(ms) / 1000

const plain = (type: string, body: string): Response =>
  new Response(body, { headers: { 'content-type': `${type}; charset=utf-8` } })

// The text of a transcript as it grows: all deltas together are the whole text, without space at either end.
export class TranscriptText {
  #text = ''
  /** Space that counts only if text follows. */
  #space = ''

  /** @returns the added text, possibly empty */
  add(part: string): string {
    const given = (this.#space + part).toWellFormed()
    const begun = this.#text === '' ? given.trimStart() : given
    const delta = begun.trimEnd()
    this.#space = begun.slice(delta.length)
    if (delta === '') return ''
    this.#text += delta
    return delta
  }

  toString(): string {
    return this.#text
  }
}
