/** `myna voices remake`: clones whose model was removed, made again from the clips that the server has kept. */
import { Command } from 'commander'
import { systemClock } from '../../domain/time.ts'
import { type ApiClient, type OperationRecord, Refusal } from '../client/client.ts'
import { clientOf, type ServerOptions, throughServer } from '../client/through-server.ts'
import { globalsOf } from '../globals.ts'
import { counted, duration } from '../terminal/format.ts'
import { onInterrupt } from '../terminal/interrupt.ts'
import { progressLine } from '../terminal/progress.ts'
import { Failure, note } from '../terminal/terminal.ts'
import { advised, everyVoice, readVoice, type VoiceRecord } from './clone.ts'
import { asking, onVoice } from './named.ts'

const firstPauseMs = 500
const pauseFactor = 1.5
const pauseMsMax = 5000
const waitingMs = 600_000

interface RemakeOptions extends ServerOptions {
  all?: true
}

export const remakeCommand = (): Command =>
  throughServer(new Command('remake'))
    .description('make a voice again whose model was removed, from its clip')
    .argument('[voice]', 'id, alias or name, as shown by myna voices list')
    .option('--all', 'every voice of yours that cannot be used')
    .addHelpText(
      'after',
      `
It costs nothing. The voice keeps its id, its aliases and the address of its preview.`,
    )
    .action(remake)

async function remake(given: string | undefined, options: RemakeOptions, command: Command): Promise<void> {
  if ((given === undefined) === (options.all === undefined)) command.error('Name one voice, or all of them with --all.')
  const { json, config } = globalsOf(command)
  const client = await clientOf(options, config)
  const made: VoiceRecord[] = []
  const failures: Failure[] = []
  if (given !== undefined) made.push(await asking(onVoice(client, given, (id) => remakeOne(client, id))))
  else await remakeAll(client, made, failures)
  if (json) process.stdout.write(`${JSON.stringify(made, null, 2)}\n`)
  else for (const voice of made) process.stdout.write(`'${voice.name}' is made again: ${voice.voice_id}\n`)
  if (failures.length > 0) {
    throw new Failure(`${counted(failures.length, 'voice')} could not be made again.`, failures[0]?.code ?? 'failed')
  }
  if (made.length === 0 && !json) process.stdout.write('Every voice of yours can be used.\n')
}

/** One after another: an account may make only few at once. */
async function remakeAll(client: ApiClient, made: VoiceRecord[], failures: Failure[]): Promise<void> {
  const voices = await asking(everyVoice(client))
  const isDue = ({ is_owner: isOwner, status, usable }: VoiceRecord) =>
    isOwner && status === 'ready' && usable === false
  for (const { voice_id: id, name } of voices.filter(isDue)) {
    try {
      made.push(await remakeOne(client, id))
    } catch (error) {
      const failure = error instanceof Refusal ? advised(error) : error
      if (!(failure instanceof Failure) || failure.code === 'interrupted') throw failure
      note(`'${name}' (${id}): ${failure.message}`)
      failures.push(failure)
    }
  }
}

/** @returns the voice once it is made @throws Refusal, Failure */
async function remakeOne(client: ApiClient, id: string): Promise<VoiceRecord> {
  const line = progressLine()
  const startMs = systemClock.monotonicMs()
  const answer = await client.remake(id, AbortSignal.timeout(waitingMs))
  const { id: operationId } = (await answer.json()) as { id: string }
  const ignore = onInterrupt(() => void client.cancel(operationId).catch(() => {}))
  try {
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMsMax, pauseMs * pauseFactor)) {
      line.show('Making the voice again', startMs)
      // A server that cannot be reached now may be back before the deadline.
      const operation = await client.operation(operationId).catch(() => null)
      if (operation?.state === 'terminal') return await ended(client, id, operation)
      if (systemClock.monotonicMs() - startMs > waitingMs) {
        const look = `Check on it with: myna voices show ${id}`
        throw new Failure(`After ${duration(waitingMs)} the voice is still being made. ${look}`, 'timeout')
      }
      await Bun.sleep(pauseMs)
    }
  } finally {
    ignore()
    line.clear()
  }
}

async function ended(client: ApiClient, id: string, { outcome, error }: OperationRecord): Promise<VoiceRecord> {
  if (outcome === 'completed') return readVoice(client, id)
  if (outcome === 'cancelled') throw new Failure('Stopped. The voice is as it was.', 'interrupted')
  throw new Failure(error?.message ?? 'The voice could not be made again.', error?.code ?? 'failed')
}
