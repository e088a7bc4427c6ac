/** `myna models pull` and `myna models import`: install a model and show progress. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { importModel } from '../../catalog/install/import.ts'
import { ModelError } from '../../catalog/model-error.ts'
import { type Installation, pull } from '../../catalog/install/pull.ts'
import type { Config } from '../../config.ts'
import { ownCard } from '../../catalog/own.ts'
import { remove } from '../../catalog/install/remove.ts'
import type { Card } from '../../domain/card.ts'
import { aliasTask } from '../../domain/model-aliases.ts'
import { dismissModel } from '../administration.ts'
import { bytes, counted } from '../terminal/format.ts'
import { globalsOf } from '../globals.ts'
import { findCard, installationParts, interruptible } from './local.ts'
import { whyUnusable } from './trial.ts'
import { displayFor } from './progress.ts'
import { Failure, note, snakeCase } from '../terminal/terminal.ts'

export const pullCommand = (cards: readonly Card[]): Command =>
  new Command('pull')
    .description('download a model, or repair it')
    .argument('<id>', 'model id, as shown by myna models list')
    .addHelpText(
      'after',
      `
Files that exist are verified, not downloaded again. Ctrl-C keeps what has arrived. A
running server uses the model from its next request. With --json, one line per event.`,
    )
    .action((id: string, _options, command: Command) =>
      bring(command, findCard(cards, id), `resume with: myna models pull ${id}`, (card, parts, signal) =>
        pull(card, parts, signal).catch((error: unknown) => Promise.reject(withOtherWays(error, id))),
      ),
    )

/** If there is no answer, there may never be one, behind a firewall or without a network. */
const withOtherWays = (error: unknown, id: string): unknown =>
  error instanceof ModelError && error.code === 'no_hub'
    ? new Failure(
        `${error.message} Other ways: a mirror (HF_ENDPOINT=https://...), or files downloaded elsewhere: myna ` +
          `models show ${id} --json lists them, myna models import ${id} PATH installs them.`,
        error.code,
      )
    : error

interface ImportOptions {
  as?: string | undefined
  like?: string | undefined
}

export const importCommand = (cards: readonly Card[]): Command =>
  new Command('import')
    .description('install a model from a folder or an archive')
    .argument('<id>', 'model id, as shown by myna models list; the path, with --as')
    .argument('[path]', 'folder, .zip, .tar or .tar.gz with its files')
    .option('--as <new-id>', 'install files of your own, such as a fine-tune, under this new id')
    .option('--like <id>', 'the model that they replace: its languages, voices and file names')
    .addHelpText(
      'after',
      `
For machines without a network. Files are recognized by name, or by hash whatever their
name; myna models show ID --json lists both.

With --as and --like, your own files are accepted without comparing hashes: an engine
loads them and checks that they fit the architecture. Such a model is marked as
unverified wherever models are listed.

Examples:
  myna models import whisper-base ./whisper-base.zip
  myna models import ./my-export --as my-whisper --like whisper-base`,
    )
    .action((first: string, second: string | undefined, { as, like }: ImportOptions, command: Command) => {
      if (as !== undefined || like !== undefined) return importOwn(command, cards, { path: first, second, as, like })
      if (second === undefined) command.error('Give the path of a folder or an archive with its files, after the id.')
      return bring(command, findCard(cards, first), 'import it again', (card, parts, signal) =>
        importModel(card, resolve(second), parts, signal),
      )
    })

interface OwnImport extends ImportOptions {
  path: string
  second: string | undefined
}

/** Installed, and taken away again where no engine can load it. */
async function importOwn(command: Command, cards: readonly Card[], given: OwnImport): Promise<void> {
  const { config } = globalsOf(command)
  const { path, second, as: id, like } = given
  if (id === undefined || like === undefined || second !== undefined) {
    throw new Failure('For files of your own, give a path, --as NEW_ID and --like ID.', 'bad_option')
  }
  requireNewId(cards, id)
  const base = findCard(cards, like)
  if (base.builtIn)
    throw new Failure(`${like} is inside the program and has no files that could be replaced.`, 'built_in')
  await bring(command, ownCard(base, id), 'import it again', async (card, parts, signal) => {
    const installation = await importModel(card, resolve(path), parts, signal)
    const reason = await whyUnusable(config, card, signal)
    if (reason === null) return installation
    await remove(id, card, parts, signal, async () => {})
    throw new Failure(`${reason} Nothing was installed.`, 'model_unusable')
  })
}

/** @throws Failure where the id means something else, or could not name a folder */
function requireNewId(cards: readonly Card[], id: string): void {
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/.test(id)) {
    throw new Failure(`'${id}' cannot be an id: use letters, digits, _ . and -, at most 128.`, 'bad_option')
  }
  const isAlias = aliasTask(id) !== null
  if (isAlias || id === 'auto' || cards.some((card) => card.id === id)) {
    throw new Failure(`'${id}' is the name of another model; choose another name.`, 'bad_option')
  }
}

type Bring = (card: Card, parts: ReturnType<typeof installationParts>, signal: AbortSignal) => Promise<Installation>

async function bring(command: Command, card: Card, goOn: string, work: Bring): Promise<void> {
  const { json, config } = globalsOf(command)
  if (card.builtIn)
    throw new Failure(`${card.id} is inside the program, so it is installed on every machine.`, 'built_in')
  const display = displayFor(card, json)
  const parts = installationParts(config, display.onEvent)
  let installation: Installation
  try {
    const leaving = `Stopped. The partial download is kept; ${goOn}`
    installation = await interruptible(leaving, (signal) => work(card, parts, signal))
  } finally {
    display.end()
  }
  if (!installation.wasWhole) await renewInServer(config, card)
  tell(json, card, installation)
}

/**
 * A server that has loaded what was damaged loads it anew; what it prefers from now on, it loads at once. It is of no
 * consequence to the model if that fails.
 */
async function renewInServer({ dataDir }: Config, { id }: Card): Promise<void> {
  try {
    await dismissModel(dataDir, id)
  } catch (error) {
    note(`The running server could not be notified: ${(error as Error).message} If it has used ${id}, restart it.`)
  }
}

function tell(json: boolean, card: Card, { manifest: { files }, path, wasWhole }: Installation): void {
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0)
  const unchecked = files.filter(({ evidence }) => evidence === 'none').map(({ name }) => name)
  if (json) {
    const done = { event: 'installed', id: card.id, path, files: files.length, sizeBytes, unchecked, wasWhole }
    process.stdout.write(`${JSON.stringify(snakeCase(done))}\n`)
    return
  }
  const size = `${counted(files.length, 'file')}, ${bytes(sizeBytes)}`
  const how = wasWhole ? 'is installed already, and complete' : 'is installed'
  process.stdout.write(`${card.id} ${how}: ${size} in ${path}\n`)
  if (card.like !== undefined)
    return note('An engine has loaded it. Its files are your own, so it counts as unverified.')
  if (unchecked.length === 0) return
  const what = 'No hash is published for these files'
  note(
    wasWhole
      ? `${what}, so the existing ones are kept. To replace them, first run: myna models rm ${card.id}`
      : `${what}; they are recorded as found: ${unchecked.join(', ')}`,
  )
}
