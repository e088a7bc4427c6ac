/**
 * Lists what a language model can do with a running server. Each tool is a request like those of the other commands.
 */
import { rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Config } from '../../config.ts'
import { audioFormats, defaultSampleRateHz } from '../../domain/speech.ts'
import { systemClock } from '../../domain/time.ts'
import type { Arguments } from './arguments.ts'
import { textIn } from './arguments.ts'
import { audioFormatOf } from '../client/audio-format.ts'
import type { ApiClient, OperationRecord } from '../client/client.ts'
import { deliver } from '../client/delivery.ts'
import { findPlayer, playerSink } from '../client/player.ts'
import { fileSink } from '../client/sink.ts'
import { clientOf, type ServerOptions } from '../client/through-server.ts'
import { transcript } from '../client/transcript.ts'
import { recordingIn } from '../client/upload.ts'
import { dollars, duration } from '../terminal/format.ts'
import { Failure } from '../terminal/terminal.ts'
import { clone, everyVoice } from '../voices/clone.ts'
import { asking } from '../voices/named.ts'
import type { Folder } from './folder.ts'
import type { Call, Tool, ToolResult } from './protocol.ts'

export interface ToolParts {
  options: ServerOptions
  config: Config
  folder: Folder
}

const mediaTypes: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'application/octet-stream',
}

const stopped = (signal: AbortSignal) => (callback: () => void) => {
  if (signal.aborted) callback()
  signal.addEventListener('abort', callback)
  return () => signal.removeEventListener('abort', callback)
}

export const toolsFor = (parts: ToolParts): readonly Tool[] => [
  speakTool(parts),
  transcribeTool(parts),
  listVoicesTool(parts),
  cloneVoiceTool(parts),
]

const speakTool = ({ options, config, folder }: ToolParts): Tool => ({
  name: 'speak',
  title: 'Speak',
  description:
    'Says a text aloud on this computer, or saves it as an audio file where save_to is given or nothing here can play.',
  inputs: {
    text: { type: 'string', description: 'what is said, as plain text' },
    voice: { type: 'string', description: 'id, name or alias of a voice; see list_voices', optional: true },
    speed: { type: 'number', description: '1 is the usual speed', minimum: 0.25, maximum: 4, optional: true },
    save_to: {
      type: 'string',
      description: `a new file in ${folder.path}, named .${audioFormats.join(', .')}; not played then`,
      optional: true,
    },
  },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  async run(given, call) {
    const player = given.save_to === undefined ? findPlayer(defaultSampleRateHz) : null
    const path = player === null ? await folder.toWrite(fileNameIn(given)) : null
    const format = path === null ? 'pcm' : audioFormatOf(path)
    if (format === undefined) throw new Failure(`Name the file .${audioFormats.join(', .')}.`, 'invalid_argument')
    const client = await clientOf(options, config)
    const operation = await deliver({
      client,
      body: { input: given.text, voice: given.voice, speed: given.speed, response_format: format },
      idempotencyKey: crypto.randomUUID(),
      sink: path === null ? playerSink(player as NonNullable<typeof player>) : await fileSink(path),
      onInterrupt: stopped(call.signal),
      notice: call.progress,
      wait: (ms) => Bun.sleep(ms),
      clock: systemClock,
    }).catch(async (error: unknown) => {
      // The error does not say where the partial file is.
      if (path !== null && call.signal.aborted) await rm(`${path}.part`, { force: true })
      throw error
    })
    const summary = await spokenText(operation, client)
    if (path === null) return { text: `Played${summary}.` }
    const file = { uri: pathToFileURL(path).href, name: basename(path), mimeType: mediaTypes[format] as string }
    return { text: `Saved as ${path}${summary}.`, file }
  },
})

/** A new name for each file that was given none. */
const fileNameIn = ({ save_to: named }: Arguments): string =>
  typeof named === 'string' ? named : `speech-${new Date().toISOString().replace(/[:.]/g, '-')}.mp3`

async function spokenText(operation: OperationRecord | null, client: ApiClient): Promise<string> {
  const pcmBytes = operation?.completion_bytes ?? null
  const long = pcmBytes === null ? '' : `: ${duration((1000 * pcmBytes) / 2 / defaultSampleRateHz)} of speech`
  return `${long}${await costs(operation?.charged_micros ?? null, client)}`
}

/** For an account that pays nothing, nothing is said about money. */
const costs = async (chargedMicros: number | null, client: ApiClient): Promise<string> =>
  chargedMicros !== null && (await client.isPrepaid()) ? `, charged ${dollars(chargedMicros)}` : ''

const transcriptFormats = ['text', 'srt', 'vtt', 'verbose_json'] as const

const transcribeTool = ({ options, config, folder }: ToolParts): Tool => ({
  name: 'transcribe',
  title: 'Transcribe',
  description: 'Transcribes a recording (wav, mp3, flac, ogg, m4a, webm).',
  inputs: {
    path: { type: 'string', description: `the recording, a file in ${folder.path}` },
    language: { type: 'string', description: 'spoken language (en, de ...); found out unless given', optional: true },
    format: { type: 'string', description: 'text unless given', enum: transcriptFormats, optional: true },
    save_to: { type: 'string', description: 'a new file, for a long transcript', optional: true },
  },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  async run(given, call): Promise<ToolResult> {
    const path = await folder.toRead(textIn(given, 'path'))
    const target = given.save_to === undefined ? null : await folder.toWrite(textIn(given, 'save_to'))
    let skippedSeconds = 0
    const whole = await transcript({
      client: await clientOf(options, config),
      translate: false,
      upload: {
        file: await recordingIn(path, 'invalid_audio'),
        fileName: basename(path),
        fields: given.language === undefined ? [] : [['language', textIn(given, 'language')]],
      },
      format: textIn(given, 'format') || 'text',
      onInterrupt: stopped(call.signal),
      progress: progressOf(call),
      onText: () => {},
      onSkipped: (seconds) => (skippedSeconds = seconds),
      clock: systemClock,
    })
    const damaged = skippedSeconds > 0 ? `\n(${skippedSeconds.toFixed(1)} s could not be decoded.)` : ''
    if (target === null) return { text: `${whole.trimEnd() || '(No speech was found.)'}${damaged}` }
    const sink = await fileSink(target)
    await sink.write(Buffer.from(whole))
    await sink.keep()
    const file = { uri: pathToFileURL(target).href, name: basename(target), mimeType: 'text/plain' }
    return { text: `Saved as ${target}.${damaged}`, file }
  },
})

/** Not more often than the words change. */
function progressOf({ progress }: Call): (text: string) => void {
  let last = ''
  return (text) => {
    if (text !== last) progress(text)
    last = text
  }
}

const listVoicesTool = ({ options, config }: ToolParts): Tool => ({
  name: 'list_voices',
  title: 'List voices',
  description: 'The voices that can speak: id, name, aliases, language, model, description.',
  inputs: {
    language: { type: 'string', description: 'only voices of this language (en, de ...)', optional: true },
  },
  annotations: { readOnlyHint: true, openWorldHint: false },
  async run(given) {
    const voices = await asking(everyVoice(await clientOf(options, config)))
    const wanted = textIn(given, 'language').toLowerCase()
    const shown = voices.filter(
      ({ status, language }) => status === 'ready' && (language ?? wanted).toLowerCase().startsWith(wanted),
    )
    const lines = shown.map(({ voice_id: id, name, aliases = [], language, model, description }) =>
      JSON.stringify({ id, name, aliases, language, model, description }),
    )
    return { text: lines.length === 0 ? 'There are no such voices.' : lines.join('\n') }
  },
})

const cloneVoiceTool = ({ options, config, folder }: ToolParts): Tool => ({
  name: 'clone_voice',
  title: 'Clone a voice',
  description:
    'Makes a voice from a recording of one person who speaks 10 to 20 seconds. ' +
    'Only with that person’s agreement: ask first.',
  inputs: {
    path: { type: 'string', description: `the recording, a file in ${folder.path}` },
    name: { type: 'string', description: 'name of the voice' },
    consent: { type: 'string', description: 'who agreed to this, and when; stored with the voice' },
    language: { type: 'string', description: 'spoken language: en, de, pt-BR ...', optional: true },
  },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  async run(given, call) {
    const path = await folder.toRead(textIn(given, 'path'))
    const form = new FormData()
    for (const field of ['name', 'consent', 'language']) {
      if (given[field] !== undefined) form.append(field, textIn(given, field))
    }
    form.append('file', await recordingIn(path, 'clip_undecodable'), basename(path))
    const client = await clientOf(options, config)
    const { voice, chargedMicros } = await clone({
      client,
      form,
      idempotencyKey: crypto.randomUUID(),
      onInterrupt: stopped(call.signal),
      progress: progressOf(call),
      wait: (ms) => Bun.sleep(ms),
      clock: systemClock,
    })
    const kind = voice.fidelity === 'approximate' ? ' It resembles the person only approximately.' : ''
    return { text: `'${voice.name}' is ready: ${voice.voice_id}${await costs(chargedMicros, client)}.${kind}` }
  },
})
