/** A complete transcript in each of the formats of docs/api.md 3.2. */
import { srt, vtt } from '../../domain/subtitles.ts'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import type { Transcribing } from '../../service/transcribing.ts'
import { json } from '../exchange.ts'
import { skippedS, transcription, verboseTranscription } from './records.ts'
import type { AnswerForm } from './request.ts'

/** Reads it to its end. @throws the MynaError that ended it */
export async function wholeTranscript(transcribing: Transcribing, form: AnswerForm): Promise<Response> {
  const response = await answered(transcribing, form)
  // Text and subtitles have no other place for this.
  const skipped = skippedS(transcribing)
  if (skipped !== undefined) response.headers.set('x-skipped-seconds', String(skipped))
  return response
}

/** Reads it to its end. @throws the MynaError that ended it */
export async function readWhole(transcribing: Transcribing) {
  const segments: TranscriptSegment[] = []
  for (let part = await transcribing.next(); part !== null; part = await transcribing.next()) {
    segments.push(...part.segments)
  }
  return { transcribing, segments, text: textOf(segments) }
}

async function answered(transcribing: Transcribing, { format, granularities }: AnswerForm): Promise<Response> {
  const { segments, text } = await readWhole(transcribing)
  switch (format) {
    case 'json':
      return json(transcription.of({ transcribing, text, segments, granularities }))
    case 'verbose_json':
      return json(verboseTranscription.of({ transcribing, text, segments, granularities }))
    case 'text':
      return plain('text/plain', `${text}\n`)
    case 'srt':
      return plain('text/plain', srt(segments))
    case 'vtt':
      return plain('text/vtt', vtt(segments))
  }
}

function textOf(segments: readonly TranscriptSegment[]): string {
  const text = new TranscriptText()
  for (const segment of segments) text.add(segment.text)
  return text.toString()
}

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
