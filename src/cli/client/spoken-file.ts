/** Speech into a file or to standard output, as every command uses it: requested once, reported at the end. */
import type { Config } from '../../config.ts'
import { systemClock } from '../../domain/time.ts'
import type { OperationRecord } from './client.ts'
import type { Captions } from './captions.ts'
import { deliver } from './delivery.ts'
import { dollars } from '../terminal/format.ts'
import { type Player, playerSink } from './player.ts'
import { fileSink, type Sink, stdoutSink } from './sink.ts'
import { note, report, snakeCase } from '../terminal/terminal.ts'
import { clientOf, onInterrupt, type ServerOptions } from './through-server.ts'

export interface SpokenFile {
  /** Hears it instead of a file; absent: the audio goes to `file`. */
  player?: Player | null
  /** `-` is standard output. */
  file: string
  /** The body of `POST /v1/audio/speech`. */
  body: object
  /** Written beside the audio; absent: none. */
  captions?: Captions | null
  options: ServerOptions
  config: Config
  json: boolean
}

export interface SpokenOperation extends OperationRecord {
  /** In words; '' for an account that pays nothing, whose user need not read about money. */
  costs: string
}

/** @returns the completed operation, or null, as `deliver` @throws as `deliver` */
export async function speakInto({
  player = null,
  file,
  body,
  captions = null,
  options,
  config,
  json,
}: SpokenFile): Promise<SpokenOperation | null> {
  const client = await clientOf(options, config)
  const operation = await deliver({
    client,
    body: captions === null ? body : { ...body, ...captions.fields },
    ...(captions !== null && { audioIn: (audio: AsyncIterable<Uint8Array>) => captions.audioIn(audio) }),
    idempotencyKey: crypto.randomUUID(),
    sink: await sinkFor(player, file),
    onInterrupt,
    notice: json ? () => {} : note,
    wait: (ms) => Bun.sleep(ms),
    clock: systemClock,
  })
  await captions?.write()
  if (operation === null) return null
  const isTold = !json && (await client.isPrepaid())
  return { ...operation, costs: isTold ? `, charged ${dollars(operation.charged_micros)}` : '' }
}

const sinkFor = async (player: Player | null, file: string): Promise<Sink> => {
  if (player !== null) return playerSink(player)
  return file === '-' ? stdoutSink() : fileSink(file)
}

/** Beside the audio, where that goes to standard output. @param text the result for a person, without the file */
export function tellSpoken({ file, json }: Pick<SpokenFile, 'file' | 'json'>, result: object, text: string): void {
  const whole = { file: file === '-' ? null : file, ...result }
  if (file !== '-') report(json, whole, () => `${file}: ${text}`)
  else note(json ? JSON.stringify(snakeCase(whole)) : `Spoken: ${text}`)
}
