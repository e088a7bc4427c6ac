/** `myna speak`: text to an audio file, through the API of a running server. */
import { extname } from 'node:path'
import { Command, InvalidArgumentError } from 'commander'
import { countChars } from '../domain/charge.ts'
import { type AudioFormat, audioFormats, defaultSampleRateHz } from '../domain/speech.ts'
import { counted, duration } from './terminal/format.ts'
import { globalsOf } from './globals.ts'
import { audioFormatOf } from './client/audio-format.ts'
import { Captions } from './client/captions.ts'
import { findPlayer, type Player, playerNames } from './client/player.ts'
import { Failure, note } from './terminal/terminal.ts'
import { speakInto, tellSpoken } from './client/spoken-file.ts'
import { type ServerOptions, throughServer } from './client/through-server.ts'

interface SpeakOptions extends ServerOptions {
  output?: string
  voice?: string
  model?: string
  format?: AudioFormat
  speed?: number
  play?: true
  captions?: string
}

export function speakCommand(): Command {
  const command = new Command('speak')
    .argument('<text>', 'the text; - reads it from standard input')
    .option('-o, --output <file>', 'output file; - is standard output (default: speech.<format>)')
    .option('--voice <voice>', "id, name or alias of a voice, or a mixture (default: the model's default voice)")
    .option('--model <model>', 'model id (default: the best one for the voice)')
    .option('--format <format>', `${audioFormats.join(', ')} (default: from the file name, else mp3)`, parseFormat)
    .option('--speed <factor>', '0.25 to 4 (default: 1)', parseSpeed)
    .option('--captions <file>', 'also write subtitles: .srt or .vtt, by the times of the words')
    .option('--play', 'play it (the default at a terminal, unless a file or a format is named)')
  return throughServer(command)
    .addHelpText(
      'after',
      `
Until it is complete, the file is called FILE.part. An existing file is replaced.
Ctrl-C stops the work on the server; only delivered speech is charged.

Examples:
  myna speak "Good morning." -o morning.mp3
  myna speak "Good morning." --voice nova --speed 1.2 --format wav
  myna speak - -o book.mp3 --captions book.srt < book.txt
  myna speak "Good evening." --voice "af_heart(2)+af_sky"
  fortune | myna speak - -o - | ffplay -nodisp -autoexit -`,
    )
    .action(speak)
}

async function speak(given: string, options: SpeakOptions, command: Command): Promise<void> {
  const { json, config } = globalsOf(command)
  const player = playerFor(options, json)
  const format = player === null ? (options.format ?? formatOf(options.output, command)) : 'pcm'
  const input = given === '-' ? (await Bun.stdin.text()).trimEnd() : given
  if (input.trim() === '') command.error('error: there is no text to speak')
  const file = player === null ? (options.output ?? `speech.${format}`) : '-'
  const { voice, model, speed } = options
  const body = { input, voice, model, speed, response_format: format }
  const captions = options.captions === undefined ? null : new Captions(options.captions, input)
  const operation = await speakInto({ player, file, body, captions, options, config, json })
  if (captions?.isEstimated === true) note('This model does not time its words: the captions are estimates.')
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

function formatOf(output: string | undefined, command: Command): AudioFormat {
  const extension = extname(output ?? '')
  if (output === undefined || output === '-' || extension === '') return 'mp3'
  const format = audioFormatOf(output)
  return format ?? command.error(`error: '${extension}' is not a known audio format; name one with --format`)
}

function parseFormat(text: string): AudioFormat {
  const format = audioFormatOf(`speech.${text}`)
  if (format !== undefined) return format
  throw new InvalidArgumentError(`Expected one of ${audioFormats.join(', ')}.`)
}

function parseSpeed(text: string): number {
  const speed = Number(text)
  if (text.trim() !== '' && speed >= 0.25 && speed <= 4) return speed
  throw new InvalidArgumentError('Expected a number from 0.25 to 4.')
}
