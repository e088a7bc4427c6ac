/** One transcription of the page: sent, and read as it arrives. */
import { ApiError, request } from '../api.ts'
import type { Clip } from '../recording/recorder.ts'

export interface Segment {
  start: number
  end: number
  text: string
}

export interface Transcript {
  text: string
  segments: readonly Segment[]
  /** Seconds processed, and the length of the clip if its file states it. */
  heard: { seconds: number; of: number | null } | null
  language: string | null
  isWhole: boolean
}

export const emptyTranscript: Transcript = { text: '', segments: [], heard: null, language: null, isWhole: false }

export interface TranscriptionAsk {
  clip: Clip
  model: string | null
  language: string
  translate: boolean
}

interface Told {
  type: string
  delta?: string
  text?: string
  start?: number
  end?: number
  languages?: { code: string }[]
  error?: { code: string; message: string; request_id: string | null }
}

/** @param onChange called at every step @throws ApiError; the signal's reason */
export async function transcribe(
  { clip, model, language, translate }: TranscriptionAsk,
  onChange: (transcript: Transcript) => void,
  signal: AbortSignal,
): Promise<void> {
  const form = new FormData()
  form.set('stream', 'true')
  form.set('include[]', 'segments')
  if (model !== null) form.set('model', model)
  if (language.trim() !== '' && !translate) form.set('language', language.trim())
  form.set('file', clip.file, clip.name)
  const path = `/v1/audio/${translate ? 'translations' : 'transcriptions'}`
  const answer = await request(path, { method: 'POST', body: form, signal })
  let transcript = emptyTranscript
  try {
    for await (const event of eventsOf(answer)) {
      transcript = 'comment' in event ? heardSoFar(transcript, event.comment) : after(transcript, event.data)
      onChange(transcript)
    }
  } catch (cause) {
    // Browsers have their own words for a server that went away.
    throw cause instanceof ApiError ? cause : brokenOff()
  }
  if (!transcript.isWhole) throw brokenOff()
}

const brokenOff = (): ApiError =>
  new ApiError(0, 'unreachable', 'The transcript failed before its end. The text up to that point stays.', null)

function heardSoFar(before: Transcript, comment: string): Transcript {
  const match = /^heard ([\d.]+)(?: of ([\d.]+))?$/.exec(comment)
  if (match === null) return before
  return { ...before, heard: { seconds: Number(match[1]), of: match[2] === undefined ? null : Number(match[2]) } }
}

function after(before: Transcript, data: string): Transcript {
  if (data === '[DONE]') return before
  const told = JSON.parse(data) as Told
  if (told.type === 'transcript.text.delta') return { ...before, text: before.text + (told.delta ?? '') }
  if (told.type === 'transcript.text.segment') {
    const segment = { start: told.start ?? 0, end: told.end ?? 0, text: (told.text ?? '').trim() }
    return segment.text === '' ? before : { ...before, segments: [...before.segments, segment] }
  }
  if (told.type === 'transcript.text.done') {
    const [language] = told.languages ?? []
    return { ...before, text: told.text ?? before.text, language: language?.code ?? null, isWhole: true }
  }
  if (told.type === 'error') {
    const { code = 'unknown', message = 'Transcription failed.', request_id: id = null } = told.error ?? {}
    throw new ApiError(500, code, message, id)
  }
  return before
}

const two = (value: number) => String(value).padStart(2, '0')

/** @param mark between seconds and thousandths */
function time(seconds: number, mark: string): string {
  const ms = Math.round(seconds * 1000)
  const [h, m, s] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, Math.floor(ms / 1000) % 60]
  return `${two(h)}:${two(m)}:${two(s)}${mark}${String(ms % 1000).padStart(3, '0')}`
}

const cue = (mark: string, { start, end, text }: Segment) =>
  `${time(start, mark)} --> ${time(end, mark)}\n${text.replaceAll('-->', '->')}\n`

export const srtOf = (segments: readonly Segment[]): string =>
  segments.map((segment, index) => `${index + 1}\n${cue(',', segment)}`).join('\n')

export const vttOf = (segments: readonly Segment[]): string =>
  ['WEBVTT\n', ...segments.map((segment) => cue('.', segment))].join('\n')

// Server-sent events of an answer, as they arrive, including comments, which report progress.
type StreamEvent = { data: string } | { comment: string }

async function* eventsOf(answer: Response): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield* inBlock(block)
  }
}

function* inBlock(block: string): Generator<StreamEvent> {
  const lines = block.split('\n')
  for (const line of lines) if (line.startsWith(':')) yield { comment: line.slice(1).trim() }
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length))
  if (data.length > 0) yield { data: data.join('\n') }
}
