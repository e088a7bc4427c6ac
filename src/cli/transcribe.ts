/** `myna transcribe`: a recording to text or subtitles, through the API of a running server. */
import { basename, extname } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { systemClock } from '../domain/time.ts'
import { counted } from './terminal/format.ts'
import { globalsOf } from './globals.ts'
import { onInterrupt } from './terminal/interrupt.ts'
import { progressLine } from './terminal/progress.ts'
import { recordingIn } from './client/upload.ts'
import { fileSink } from './client/sink.ts'
import { Failure, note, report } from './terminal/terminal.ts'
import { clientOf, type ServerOptions, throughServer } from './client/through-server.ts'
import { transcript } from './client/transcript.ts'

const formats = ['text', 'json', 'srt', 'vtt', 'verbose_json'] as const
type Format = (typeof formats)[number]

interface TranscribeOptions extends ServerOptions {
  output?: string
  format?: Format
  language?: string
  translate?: boolean
  prompt?: string
  words?: boolean
  model?: string
}

export function transcribeCommand(): Command {
  const command = new Command('transcribe')
    .argument('<file>', 'the recording: wav, mp3, flac, ogg, m4a or webm; - reads it from standard input')
    .option('-o, --output <file>', 'output file (default: standard output)')
    .option('--format <format>', `${formats.join(', ')} (default: from the file name, else text)`, parseFormat)
    .option('--language <language>', 'spoken language: en, de, english ... (default: detected automatically)')
    .option('--translate', 'translate into English')
    .option('--prompt <text>', 'names and words to expect')
    .option('--words', 'with verbose_json: also the times of single words')
    .option('--model <model>', 'model id (default: the best one installed)')
  return throughServer(command)
    .addHelpText(
      'after',
      `
Ctrl-C stops the work on the server.

Examples:
  myna transcribe talk.mp3
  myna transcribe talk.mp3 -o talk.srt
  myna transcribe interview.m4a --language de --prompt "Myna, Anneliese Behr"
  ffmpeg -i film.mkv -vn -f wav - | myna transcribe - --format vtt`,
    )
    .action(transcribe)
}

async function transcribe(given: string, options: TranscribeOptions, command: Command): Promise<void> {
  const { json, config } = globalsOf(command)
  const format = options.format ?? formatOf(options, json, command)
  if (options.words === true && format !== 'verbose_json') command.error('--words needs --format verbose_json.')
  if (options.translate === true && options.language !== undefined) {
    command.error('--translate detects the language by itself: leave out --language.')
  }
  const { output } = options
  const file = await recordingOf(given)
  const sink = output === undefined || output === '-' ? null : await fileSink(output)
  const isWatched = sink === null && process.stdout.isTTY === true
  let shown = 0
  let skippedSeconds = 0
  const line = progressLine()
  const whole = await transcript({
    client: await clientOf(options, config),
    translate: options.translate === true,
    upload: { file, fileName: given === '-' ? 'recording' : basename(given), fields: fieldsOf(options) },
    format,
    onInterrupt,
    // Once there is text on the terminal, a line that redraws itself would run into it.
    progress: (...progress) => {
      if (shown === 0) line.show(...progress)
    },
    onText: (delta) => {
      if (!isWatched) return
      line.clear()
      process.stdout.write(delta)
      shown += delta.length
    },
    onSkipped: (seconds) => (skippedSeconds = seconds),
    clock: systemClock,
  }).catch(async (error: unknown) => {
    line.clear()
    if (shown > 0) process.stdout.write('\n')
    await sink?.leave()
    throw error
  })
  line.clear()
  if (skippedSeconds > 0) note(`${given} is damaged: ${skippedSeconds.toFixed(1)} s of it could not be decoded.`)
  if (sink === null) return void process.stdout.write(whole.slice(shown))
  await sink.write(Buffer.from(whole)).catch(async (error: unknown) => {
    await sink.leave()
    throw error
  })
  await sink.keep()
  report(
    json,
    { file: output, format, characters: whole.length },
    () => `${output}: ${counted(whole.length, 'character')}`,
  )
}

/** As the form of `POST /v1/audio/transcriptions` names them. */
function fieldsOf({ model, language, prompt, words }: TranscribeOptions): [string, string][] {
  const given = { model, language, prompt }
  const fields = Object.entries(given).filter((field): field is [string, string] => field[1] !== undefined)
  const granularities = words === true ? ['word', 'segment'] : []
  return [...fields, ...granularities.map((one): [string, string] => ['timestamp_granularities[]', one])]
}

/** @throws Failure before anything is asked of the server */
async function recordingOf(given: string): Promise<Blob> {
  if (given === '-') {
    const bytes = await Bun.stdin.bytes()
    if (bytes.length === 0) throw new Failure('Standard input is empty.', 'invalid_audio')
    return new Blob([bytes])
  }
  return recordingIn(given, 'invalid_audio')
}

const byExtension: Readonly<Record<string, Format>> = { '.txt': 'text', '.json': 'json', '.srt': 'srt', '.vtt': 'vtt' }

function formatOf({ output, words }: TranscribeOptions, json: boolean, command: Command): Format {
  if (words === true) return 'verbose_json'
  if (output === undefined || output === '-') return json ? 'json' : 'text'
  const extension = extname(output).toLowerCase()
  const format = extension === '' ? 'text' : byExtension[extension]
  return format ?? command.error(`'${extension}' is not a known transcript format. Name one with --format.`)
}

function parseFormat(text: string): Format {
  const format = formats.find((known) => known === text.toLowerCase())
  if (format !== undefined) return format
  throw new InvalidArgumentError(`Expected one of ${formats.join(', ')}.`)
}
