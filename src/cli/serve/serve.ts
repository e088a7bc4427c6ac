/** `myna serve`: runs the service until it is stopped. */
import { Command } from 'commander'
import { version } from '../../../package.json' with { type: 'json' }
import { sound } from '../../audio/clip.ts'
import { DecoderPool } from '../../audio/decode/decoder.ts'
import { StreamingDecoder } from '../../audio/decode/stream.ts'
import { EncoderPool } from '../../audio/encode/pool.ts'
import { voicePicture } from '../../audio/picture/picture.ts'
import type { CardCatalog } from '../../catalog/catalog.ts'
import { type Config, loadConfig } from '../../config.ts'
import type { Card } from '../../domain/card.ts'
import { systemRandom } from '../../domain/id.ts'
import { systemClock, systemTimer } from '../../domain/time.ts'
import { isOnnxRuntimeAtHand } from '../../embedded/onnx-runtime.ts'
import { setNativeDir } from '../../engine/native.ts'
import { causeOf, keepingLog, type Log } from '../../log.ts'
import type { DrawVoice } from '../../service/ports/sound.ts'
import { refusePassword } from './records.ts'
import { banner, type BannerFacts } from './banner.ts'
import { findCuda } from './cuda.ts'
import { chooseDevices, describeDevices } from './devices.ts'
import { areOnCard, speechEngine, transcriptionEngine, tryCards } from './engines.ts'
import { keptFromJournal } from './first-key.ts'
import { globalsOf, portNumber } from '../globals.ts'
import { installedCatalog, mending } from '../models/local.ts'
import { exitCodeOf } from '../terminal/interrupt.ts'
import { keepSpeeds } from './kept-speeds.ts'
import { type Server, startServer } from './server.ts'
import type { World } from './wiring.ts'
import { settingsWarnings } from './settings-warnings.ts'

interface ServeFlags {
  host?: string
  port?: number
  device?: string
  database?: string
  wyoming?: string
  tlsCert?: string
  tlsKey?: string
}

/** @param cards every model that there is */
export const serveCommand = (cards: readonly Card[]): Command =>
  new Command('serve')
    .option('--host <address>', 'address to listen on; 0.0.0.0 opens it to the network (default: 127.0.0.1)')
    .option('--port <n>', 'port to listen on; 0: any free one (default: 8790)', portNumber)
    .option('--device <device>', 'where models run: auto, cpu, cuda or cuda:N (default: auto)')
    .option('--wyoming <[host:]port>', "also speak Home Assistant's Wyoming protocol; without a host: 127.0.0.1")
    .option('--replace', 'take the place of the server that runs on the data folder, without a gap')
    .option('--tls-cert <file>', 'certificate in PEM: the API speaks https and wss; SIGHUP reads it again')
    .option('--tls-key <file>', 'its private key in PEM')
    .option('--database <address>', 'PostgreSQL that several servers share: postgres://USER@HOST/NAME (default: none)')
    .action(async ({ replace, ...flags }: ServeFlags & { replace?: boolean }, command: Command) => {
      refusePassword(flags.database ?? '')
      const globals = globalsOf(command)
      const config = loadConfig({ ...flags, dataDir: globals.config.dataDir })
      await serve(config, globals.json, cards, replace === true)
    })

async function serve(config: Config, json: boolean, cards: readonly Card[], replaces: boolean): Promise<void> {
  const log = keepingLog((line) => process.stderr.write(line), config.log, systemClock.nowMs)
  // Pictures are drawn in this process.
  setNativeDir(config.nativeDir)
  const devices = await chooseDevices(config.device, config.cudaTf32, () => findCuda(config))
  const engine = speechEngine(config, devices, log, () => kept.speeds)
  const transcriber = transcriptionEngine(config, devices, log)
  // After the engines, which refuse settings that make no sense: its clock keeps the process alive.
  const kept = keepSpeeds(config.dataDir, devices.kind, systemTimer, (error) =>
    log.warn('how fast models are cannot be kept', { cause: String(error) }),
  )
  const encoders = new EncoderPool({
    workers: config.encoderWorkers,
    onEncoded: (...what) => kept.speeds.noteEncoding(...what),
  })
  const decoder = new DecoderPool({ workers: config.decoderWorkers, timer: systemTimer })
  const streamDecoder = new StreamingDecoder({ timer: systemTimer })
  let isClosing = false
  const close = async () => {
    isClosing = true
    kept.close()
    await Promise.all([engine.close(), transcriber.close()])
    for (const codecs of [encoders, decoder, streamDecoder]) codecs.close()
  }
  const engines = { 'text-to-speech': engine, 'automatic-speech-recognition': transcriber }
  const catalog = installedCatalog(config, cards, (task) => areOnCard(devices, engines[task]))
  const time = { clock: systemClock, timer: systemTimer }
  const codecs = { encoders, decoder, streamDecoder, sound, draw }
  const machine = { speechEngines: engine.members.length, speeds: kept.speeds }
  const world = { ...time, random: systemRandom, catalog, engine, transcriber, ...codecs, ...machine, log }
  let started: Server | null = null
  let speech: Promise<void> | null = null
  const warmedSpeech = () => (speech ??= warmSpeech(world, () => isClosing))
  let others: Promise<void> | null = null
  try {
    await tryCards(devices, engine, log)
    // An engine that loads a model answers late.
    const deviceLines = describeDevices(devices, await engine.engines())
    // On another processor, while the server gets ready to listen. An engine that has libraries to unpack starts later:
    // a server that cannot listen would have to wait for it.
    const onOpened = () => void (isOnnxRuntimeAtHand() && warmedSpeech())
    const beforeListening = () => {
      others = warmOthers(world, warmedSpeech())
      return atMost(warmMs, others)
    }
    const server = await startServer(config, world, replaces ? { onOpened, beforeListening } : { onOpened })
    started = server
    const stopped = untilToldToStop(log)
    if (config.tlsCert !== '') process.on('SIGHUP', () => renewTls(server, log))
    warnAtStart(server, catalog, config, log)
    const keyFile = keptFromJournal(server.firstKey, config.dataDir)
    const isTerminal = process.stdout.isTTY === true
    announce({ version, server, keyFile, catalog, config, isTerminal, deviceLines }, json)
    others ??= warmOthers(world, warmedSpeech())
    await Promise.race([stopped, server.handedOver])
  } finally {
    await started?.stop()
    await close()
  }
  log.info('stopped')
}

/** The signal that certificate tools send: the files changed, read them again. */
function renewTls(server: Server, log: Log): void {
  try {
    server.renewTls()
    log.info('listening with the certificate and the key as they are now')
  } catch (error) {
    log.warn('the old certificate stays: the new one will not do', { cause: (error as Error).message })
  }
}

/** Twice as wide as high, for screens that draw two pixels for one. */
const draw: DrawVoice = (pcm, sampleRateHz, style) =>
  voicePicture(pcm, sampleRateHz, { ...style, widthPx: 1200, heightPx: 600 })

/** What the operator should know before the first request. */
function warnAtStart({ settledCrashed, endedCrashed }: Server, catalog: CardCatalog, config: Config, log: Log): void {
  if (settledCrashed > 0) {
    log.warn('settled operations that the last run left pending, free of charge', { operations: settledCrashed })
  }
  if (endedCrashed > 0) {
    log.warn('counted unfinished transcriptions of the last run, as far as recorded', { transcriptions: endedCrashed })
  }
  for (const { id, words } of catalog.broken()) {
    const card = catalog.cards().find((known) => known.id === id)
    log.warn(`${words}; it counts as not installed`, { model: id, mend: mending(card ?? { id }) })
  }
  for (const warning of settingsWarnings(config, catalog)) log.warn(warning)
}

function announce(facts: BannerFacts & { server: Server }, json: boolean): void {
  if (!json) {
    process.stdout.write(banner(facts))
    return
  }
  const { firstKey, port, url, wyoming } = facts.server
  const shown = firstKey === null ? {} : { first_key: firstKey.secret }
  const key = facts.keyFile === null ? shown : { first_key_file: facts.keyFile }
  const also = wyoming === null ? {} : { wyoming_port: wyoming.port }
  const line = { event: 'listening', port, url: `${url}/v1`, version, pid: process.pid, ...also, ...key }
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/**
 * Runs in the background: the first request finds what it needs in memory, or waits as it would have without.
 * @param isClosing whether the server could not start, or is ending: then so is the engine, and that is no news
 */
const warmSpeech = ({ engine, catalog, log }: World, isClosing: () => boolean): Promise<void> =>
  engine.start(catalog.best('text-to-speech')?.id ?? null).catch((error: unknown) => {
    if (!isClosing()) didNotStart(log, 'the speech engine')(error)
  })

/** Likewise. @param speech resolves once the engine of speech was tried */
async function warmOthers(
  { transcriber, encoders, catalog, log }: World & { encoders: EncoderPool },
  speech: Promise<void>,
): Promise<void> {
  // The built-in recognizer loads within a second, and many never use it; a pulled one shows that it will be used.
  const transcription = catalog.best('automatic-speech-recognition')
  const isWanted = transcription?.builtIn === false
  const noHearing = didNotStart(log, 'the transcription engine')
  const hearing = isWanted ? transcriber.start(transcription.id).catch(noHearing) : null
  // Once the voice is in memory: until then it needs all cores, and a request starts the encoder that it needs.
  const encoding = speech.then(() => encoders.warm(['mp3']))
  await Promise.all([encoding.catch(didNotStart(log, 'an encoder')), hearing])
}

const didNotStart = (log: Log, what: string) => (error: unknown) =>
  log.warn(`${what} did not start`, { cause: causeOf(error) })

/** A large model may take longer to load than a server should wait before it takes over. */
const warmMs = 120_000

function atMost(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  return Promise.race([work, promise]).finally(systemTimer.after(ms, resolve))
}

/** The first signal ends in order; a second one at once. */
function untilToldToStop(log: Log): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let signals = 0
  const received = (signal: NodeJS.Signals) => {
    if (signals++ > 0) process.exit(exitCodeOf(signal))
    log.info('stopping: active streams may finish; another signal cuts them off', { signal })
    resolve()
  }
  process.on('SIGINT', received)
  process.on('SIGTERM', received)
  return promise
}
