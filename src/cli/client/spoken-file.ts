/** Speech into a file or to standard output, as every command uses it: requested once, reported at the end. */
import { systemClock } from '../../domain/time.ts'
import type { ApiClient, OperationRecord } from './client.ts'
import { type TimedSpeech, timingFields } from './captions.ts'
import { deliver, type Delivery } from './delivery.ts'
import { bytes, dollars } from '../terminal/format.ts'
import { onInterrupt } from '../terminal/interrupt.ts'
import { type ProgressLine, progressLine } from '../terminal/progress.ts'
import { type Player, playerSink } from './player.ts'
import { fileSink, type Sink, stdoutSink } from './sink.ts'
import { note, report, snakeCase } from '../terminal/terminal.ts'

export interface SpokenFile {
  /** Hears it instead of a file; absent: the audio goes to `file`. */
  player?: Player | null
  /** `-` is standard output. */
  file: string
  /** The body of `POST /v1/audio/speech`. */
  body: object
  /** Gets the times of the words; absent: they are not asked for. */
  timed?: TimedSpeech | null
  client: ApiClient
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
  timed = null,
  client,
  json,
}: SpokenFile): Promise<SpokenOperation | null> {
  const line = progressLine()
  const sink = showing(await sinkFor(player, file), json ? null : line)
  const operation = await deliverTo(sink, { body, timed, client, notice: json ? () => {} : note }).finally(() =>
    line.clear(),
  )
  if (operation === null) return null
  return { ...operation, costs: json ? '' : await costsOf(operation.charged_micros, client) }
}

/** One request into a sink, without a word about its progress. @returns, @throws as `deliver` */
export const deliverTo = (
  sink: Sink,
  { body, timed = null, client, notice }: Pick<SpokenFile, 'body' | 'timed' | 'client'> & Pick<Delivery, 'notice'>,
): Promise<OperationRecord | null> =>
  deliver({
    client,
    body: timed === null ? body : { ...body, ...timingFields },
    ...(timed !== null && { audioIn: (audio: AsyncIterable<Uint8Array>) => timed.audioIn(audio) }),
    idempotencyKey: crypto.randomUUID(),
    sink,
    onInterrupt,
    notice,
    wait: (ms) => Bun.sleep(ms),
    clock: systemClock,
  })

/** In words; '' for an account that pays nothing. */
export const costsOf = async (chargedMicros: number, client: ApiClient): Promise<string> =>
  (await client.isPrepaid()) ? `, charged ${dollars(chargedMicros)}` : ''

/** The same sink, and a line at a terminal that says how much has arrived. */
function showing(sink: Sink, line: ProgressLine | null): Sink {
  const startMs = systemClock.monotonicMs()
  const show = () => line?.show(sink.bytes === 0 ? 'Speaking' : `Speaking, ${bytes(sink.bytes)} so far`, startMs)
  show()
  return {
    get bytes() {
      return sink.bytes
    },
    write: async (chunk) => {
      await sink.write(chunk)
      show()
    },
    keep: () => sink.keep(),
    leave: () => sink.leave(),
  }
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
