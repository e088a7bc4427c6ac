/** `myna doctor`: finds out why something does not work by trying it. Each line reports a state and a remedy. */
import { Command } from 'commander'
import { version } from '../../../package.json' with { type: 'json' }
import { InstalledModels } from '../../catalog/installed.ts'
import type { Config } from '../../config.ts'
import type { Card } from '../../domain/card.ts'
import { systemClock } from '../../domain/time.ts'
import { logTo } from '../../log.ts'
import { serverStatus } from '../administration.ts'
import { isClosed } from '../closed-folder.ts'
import { globalsOf } from '../globals.ts'
import { allCards, installedCatalog, mending, modelsFolder } from '../models/local.ts'
import { gpuStatus } from '../serve/gpu-probe.ts'
import { bytes, counted } from '../terminal/format.ts'
import { dim, green, red, report, yellow } from '../terminal/terminal.ts'
import { checkBooks, checkDisk, checkFolder } from './data.ts'
import { checkHearing, checkInference, checkVoice } from './engine.ts'
import { failed, type Finding, type Found, ok, warning, wordsOf } from './finding.ts'
import { checkDriver, checkRuntime } from './gpu.ts'
import { checkShared } from './shared.ts'
import { checkImages, checkPort, checkServer } from './machine.ts'

/** @param cards every model that there is */
export function doctorCommand(cards: readonly Card[]): Command {
  return new Command('doctor')
    .addHelpText(
      'after',
      `
Checks the data folder, its disk, database and models, the graphics card, the native
libraries, the address and the running server. Each installed model speaks a sentence, or
transcribes one, in an engine of its own. Exits 1 if a line is marked FAIL.`,
    )
    .action(async (_options, command: Command) => {
      const { json, config } = globalsOf(command)
      const findings: Finding[] = []
      for await (const finding of examine(config, cards)) {
        findings.push(finding)
        if (!json) process.stdout.write(`${line(finding)}\n`)
      }
      const healthy = findings.every((finding) => finding.state !== 'failed')
      if (json) report(true, { healthy, findings }, () => '')
      if (!healthy) process.exitCode = 1
    })
}

async function* examine(config: Config, cards: readonly Card[]): AsyncGenerator<Finding> {
  const look = async (about: string, check: () => Found | Promise<Found>): Promise<Finding> => {
    try {
      return { about, ...(await check()) }
    } catch (error) {
      return { about, ...failed(wordsOf(error), 'This should not happen: please report it.') }
    }
  }
  yield look('program', () => ok(`Myna ${version}, Bun ${Bun.version}, ${process.platform} ${process.arch}`))
  yield look('data folder', () => checkFolder(config.dataDir))
  // What is in it cannot be seen: the rest would be guessed.
  if (isClosed(config.dataDir)) return
  yield look('free disk', () => checkDisk(config.dataDir))
  yield look('database', () => (config.database === '' ? checkBooks(config.dataDir) : checkShared(config)))
  yield* modelFindings(config, cards)
  yield* gpuFindings(config, look)
  yield look('native code', () => checkImages(config))
  yield* withEngines(config, cards, look)
  const own = await serverStatus(config.dataDir).catch((error: unknown) => ({ silent: wordsOf(error) }))
  if (own !== null && 'silent' in own) {
    yield look('server', () => failed(own.silent, 'Look at the log of the server, or stop it and start it again.'))
    return
  }
  yield look('address', () => checkPort(config, own))
  yield look('server', () => checkServer(own))
}

async function* modelFindings(config: Config, cards: readonly Card[]): AsyncGenerator<Finding> {
  for (const found of await checkModels(config, cards)) yield { about: 'model', ...found }
}

async function* gpuFindings(config: Config, look: Look): AsyncGenerator<Finding> {
  const status = await gpuStatus(config)
  yield look('graphics', () => checkDriver(status))
  yield look('cuda', () => checkRuntime(status))
}

type Look = (about: string, check: () => Found | Promise<Found>) => Promise<Finding>

/** Every model that is installed speaks a sentence, or listens to one. */
async function* withEngines(config: Config, cards: readonly Card[], look: Look): AsyncGenerator<Finding> {
  // The server's half of the program is large, and only this command among the small ones needs a piece of it.
  const [{ speechEngine, transcriptionEngine }, { chooseDevices }, { findCuda }] = await Promise.all([
    import('../serve/engines.ts'),
    import('../serve/devices.ts'),
    import('../serve/cuda.ts'),
  ])
  const log = logTo(() => {}, 'quiet', systemClock.nowMs)
  let engines: ReturnType<typeof speechEngine>
  let listeners: ReturnType<typeof transcriptionEngine>
  try {
    const devices = await chooseDevices(config.device, config.cudaTf32, () => findCuda(config))
    engines = speechEngine(config, devices, log)
    listeners = transcriptionEngine(config, devices, log)
  } catch (error) {
    yield look('inference', () => failed(wordsOf(error), 'Set MYNA_DEVICE to auto.'))
    return
  }
  const catalog = installedCatalog(config, cards)
  try {
    for (const engine of engines.members) yield await look('inference', () => checkInference(engine))
    for (const card of catalog.ranked('text-to-speech')) yield await look('voice', () => checkVoice(engines, card))
    const voice = catalog.ranked('text-to-speech').find(({ builtIn }) => builtIn)
    if (voice === undefined) return
    for (const card of catalog.ranked('automatic-speech-recognition')) {
      yield await look('hearing', () => checkHearing(listeners, card, engines, voice))
    }
  } finally {
    await Promise.all([engines.close(), listeners.close()])
  }
}

const marks = { ok: green('ok  '), note: dim('note'), warning: yellow('warn'), failed: red('FAIL') }

const line = ({ about, state, message, remedy }: Finding): string =>
  `${marks[state]}  ${about.padEnd(12)} ${message}${remedy === null ? '' : `\n${' '.repeat(19)}${dim('->')} ${remedy}`}`

// `myna doctor` on each model in the data folder. Reads names and sizes, not contents.
/** One line per model that exists here, complete or not. */
export async function checkModels(config: Pick<Config, 'dataDir'>, cards: readonly Card[]): Promise<Found[]> {
  const folder = modelsFolder(config)
  const installed = new InstalledModels(folder)
  const known = allCards(config, cards)
  return (await folder.modelIds()).map((id) => {
    const card = known.find((one) => one.id === id && !one.builtIn)
    if (card === undefined) {
      return warning(`this version of Myna does not know the model ${id}`, `Remove it: myna models rm ${id}`)
    }
    const trouble = installed.trouble(card)
    return trouble === null ? whole(card, installed) : failed(trouble, `Fix it: ${mending(card)}`)
  })
}

function whole({ id, like }: Card, installed: InstalledModels): Found {
  const files = installed.manifest(id)?.files ?? []
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0)
  const own = like === undefined ? '' : `, your own files in place of ${like}, unverified`
  const what = `${counted(files.length, 'file')}, ${bytes(sizeBytes)}${own}`
  return ok(`${id}: ${what}; to verify them: myna models verify`)
}
