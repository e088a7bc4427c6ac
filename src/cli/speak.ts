/** `myna speak`: text to an audio file, through the API of a running server. */
import { basename, extname } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { textBook } from '../book/plain.ts'
import { countChars } from '../domain/charge.ts'
import { audioFormats, defaultSampleRateHz } from '../domain/speech.ts'
import { setNativeDir } from '../engine/native.ts'
import type { BookFormat } from './book/audio-file.ts'
import { namesDocument, readDocument } from './book/document.ts'
import { longestInput, playBook, speakBook } from './book/speak-book.ts'
import { audioFormatOf } from './client/audio-format.ts'
import { Captions, TimedSpeech } from './client/captions.ts'
import { findPlayer, type Player, playerNames } from './client/player.ts'
import { speakInto, type SpokenOperation, tellSpoken } from './client/spoken-file.ts'
import { clientOf, type ServerOptions, throughServer } from './client/through-server.ts'
import { globalsOf } from './globals.ts'
import { counted, duration } from './terminal/format.ts'
import { Failure, note } from './terminal/terminal.ts'

interface SpeakOptions extends ServerOptions {
  output?: string
  voice?: string
  model?: string
  format?: BookFormat
  speed?: number
  play?: true
  captions?: string
}

export function speakCommand(): Command {
  const command = new Command('speak')
    .argument('<text...>', 'the text; or a .txt, .md or .epub file; - reads standard input')
    .option('-o, --output <file>', 'output file; - is standard output (default: speech.<format>)')
    .option('--voice <voice>', "id, name or alias of a voice, or a mixture (default: the model's default voice)")
    .option('--model <model>', 'model id (default: the best one for the voice)')
    .option('--format <format>', `${formats.join(', ')} (default: from the file name, else mp3)`, parseFormat)
    .option('--speed <factor>', '0.25 to 4 (default: 1)', parseSpeed)
    .option('--captions <file>', 'also write subtitles: .srt or .vtt, by the times of the words')
    .option('--play', 'play it (the default at a terminal, unless a file or a format is named)')
  return throughServer(command)
    .addHelpText(
      'after',
      `
Until it is complete, the file is called FILE.part. An existing file is replaced.
Ctrl-C stops the work on the server; only delivered speech is charged.

Headings of a Markdown file and the contents of an EPUB become chapters, with chapter marks in
MP3 and M4B. What is longer than one request is spoken in pieces, which are kept in FILE.pieces
(170 MB an hour) until the file is whole: after a failure the same command continues.

Examples:
  myna speak "Good morning." -o morning.mp3
  myna speak "Good morning." --voice nova --speed 1.2 --format wav
  myna speak book.epub -o book.m4b --voice nova
  myna speak notes.md -o notes.mp3 --captions notes.srt
  myna speak "Good evening." --voice "af_heart(2)+af_sky"
  fortune | myna say - -o - | ffplay -nodisp -autoexit -`,
    )
    .action(speak)
}

async function speak(words: string[], options: SpeakOptions, command: Command): Promise<void> {
  const { json, config } = globalsOf(command)
  const given = words.join(' ')
  const document = namesDocument(given) ? await readDocument(given) : null
  const player = playerFor(options, json)
  const format = player === null ? (options.format ?? formatOf(options.output, command)) : 'pcm'
  const input = given === '-' ? (await Bun.stdin.text()).trimEnd() : given
  if (input.trim() === '') command.error('There is no text to speak.')
  const usual = document === null ? 'speech' : basename(given, extname(given))
  const file = player === null ? (options.output ?? `${usual}.${format}`) : '-'
  if (file === '-' && player === null && process.stdout.isTTY === true) {
    throw new Failure(
      'Sound would fill the terminal with signs. Name a file: -o FILE; or play it: --play.',
      'cannot_write',
    )
  }
  const { voice, model, speed } = options
  const captions = options.captions === undefined ? null : await Captions.into(options.captions)
  const how = { voice, model, speed }
  const client = await clientOf(options, config)
  const isLong = input.length > alwaysShort && countChars(input) > (await longestInput(client, model))
  if (document !== null || isLong || format === 'm4b') {
    const book = document ?? textBook(input)
    // What the pieces become is encoded here, Opus by a native library.
    setNativeDir(config.nativeDir)
    if (player === null) await speakBook({ book, file, format, how, captions, client, json })
    else if (captions !== null) throw new Failure('Captions of a long text need a file: -o FILE.', 'cannot_write')
    else await playBook({ book, how, client, json }, player)
  } else {
    const timed = captions === null ? null : new TimedSpeech()
    const body = { input, ...how, response_format: format }
    const operation = await speakInto({ player, file, body, timed, client, json })
    if (timed !== null) captions?.add(input, timed)
    await captions?.write()
    tellOperation(operation, input, file, json)
  }
  if (captions?.isEstimated === true) note('This model does not time its words: the captions are estimates.')
}

/** No server is set to less, so it need not be asked. */
const alwaysShort = 1000

function tellOperation(operation: SpokenOperation | null, input: string, file: string, json: boolean): void {
  const pcmBytes = operation?.completion_bytes ?? null
  const result = {
    seconds: pcmBytes === null ? null : pcmBytes / 2 / defaultSampleRateHz,
    characters: countChars(input),
    chargedMicros: operation?.charged_micros ?? null,
    operationId: operation?.id ?? null,
  }
  const length = result.seconds === null ? '' : `${duration(1000 * result.seconds)} of audio from `
  const costs = operation === null ? '' : `${operation.costs} (${operation.id})`
  tellSpoken({ file, json }, result, `${length}${counted(result.characters, 'character')}${costs}`)
}

/**
 * Whether it is heard at once: where that is asked for, and at a terminal where no file is.
 * @throws Failure when it is asked for and this machine has no player
 */
function playerFor({ play, output, format }: SpeakOptions, json: boolean): Player | null {
  const isUsual = output === undefined && format === undefined && process.stdout.isTTY === true && !json
  if (play !== true && !isUsual) return null
  const player = findPlayer(defaultSampleRateHz)
  const none = `No player was found (${playerNames()}).`
  if (player === null && play === true) throw new Failure(`${none} Write a file with -o FILE.`, 'cannot_play')
  if (player === null) note(`${none} The speech goes to a file.`)
  return player
}

const formats: readonly BookFormat[] = [...audioFormats, 'm4b']

const formatNamed = (path: string): BookFormat | undefined => (/\.m4[ab]$/i.test(path) ? 'm4b' : audioFormatOf(path))

function formatOf(output: string | undefined, command: Command): BookFormat {
  const extension = extname(output ?? '')
  if (output === undefined || output === '-' || extension === '') return 'mp3'
  const format = formatNamed(output)
  return format ?? command.error(`'${extension}' is not a known audio format. Name one with --format.`)
}

function parseFormat(text: string): BookFormat {
  const format = formatNamed(`speech.${text}`)
  if (format !== undefined) return format
  throw new InvalidArgumentError(`Expected one of ${formats.join(', ')}.`)
}

function parseSpeed(text: string): number {
  const speed = Number(text)
  if (text.trim() !== '' && speed >= 0.25 && speed <= 4) return speed
  throw new InvalidArgumentError('Expected a number from 0.25 to 4.')
}
