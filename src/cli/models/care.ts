/** `myna models verify` and `myna models rm`: whether what is here is still whole, and how it goes away again. */
import { Command } from 'commander'
import { remove } from '../../catalog/install/remove.ts'
import { verify, type Verification } from '../../catalog/install/verify.ts'
import type { Card } from '../../domain/card.ts'
import { dismissModel, serverStatus } from '../administration.ts'
import { bytes, counted } from '../terminal/format.ts'
import { globalsOf } from '../globals.ts'
import { allCards, findCard, installationParts, interruptible, mending, modelsFolder } from './local.ts'
import { displayFor } from './progress.ts'
import { Failure, green, red, report } from '../terminal/terminal.ts'

export const verifyCommand = (cards: readonly Card[]): Command =>
  new Command('verify')
    .description('verify the files of installed models')
    .argument('[id]', 'one model (default: all installed ones)')
    .addHelpText(
      'after',
      `
Exits 1 if anything is missing or damaged; fix it with \`myna models pull\`.`,
    )
    .action(async (id: string | undefined, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const folder = modelsFolder(config)
      const here = await folder.modelIds()
      const known = allCards(config, cards)
      const meant = id === undefined ? known.filter((card) => here.includes(card.id)) : [findCard(known, id)]
      const found: Verification[] = []
      await interruptible('Stopped.', async (signal) => {
        for (const card of meant.filter(({ builtIn }) => !builtIn)) {
          if (!here.includes(card.id)) throw new Failure(`${card.id} is not installed.`, 'not_installed')
          const display = displayFor(card, false)
          const onEvent = json ? () => {} : display.onEvent
          const result = await verify(card, { folder, onEvent }, signal).finally(display.end)
          found.push(result)
          if (!json) process.stdout.write(`${verdict(result, mending(card))}\n`)
        }
      })
      if (json) report(true, found, () => '')
      else if (found.length === 0)
        process.stdout.write('There is nothing to verify: everything is inside the program.\n')
      if (found.some(({ isGood }) => !isGood)) process.exitCode = 1
    })

function verdict({ id, isGood, reason, files }: Verification, remedy: string): string {
  const sizeBytes = files.reduce((sum, file) => sum + (file.sizeBytes ?? 0), 0)
  if (isGood) return `${green('ok  ')}  ${id}: ${counted(files.length, 'file')}, ${bytes(sizeBytes)}, as installed`
  const bad = files.filter(({ state }) => state !== 'good').map(({ name, state }) => `${name} is ${state}`)
  return [
    `${red('FAIL')}  ${id}: ${[...(reason === null ? [] : [reason]), ...bad].join(', ')}`,
    `      -> Fix it with: ${remedy}`,
  ].join('\n')
}

export const removeCommand = (cards: readonly Card[]): Command =>
  new Command('rm')
    .description('remove a model from this machine')
    .argument('<id>', 'model id, as shown by myna models list')
    .option('--force', 'even while a running server uses it: active requests finish')
    .action(async (id: string, { force = false }: { force?: boolean }, command: Command) => {
      const { json, config } = globalsOf(command)
      const isHere = (await modelsFolder(config).modelIds()).includes(id)
      const card = allCards(config, cards).find((known) => known.id === id) ?? null
      if (card === null && !isHere) findCard(cards, id)
      if (card?.builtIn) throw new Failure(`${id} is inside the program and cannot be removed.`, 'built_in')
      if (!force) await requireUnused(config.dataDir, id)
      const { wasThere, freedBytes } = await interruptible('Stopped.', (signal) => {
        const parts = installationParts(config, () => {})
        return remove(id, card, parts, signal, () => dismissModel(config.dataDir, id))
      })
      if (!wasThere) throw new Failure(`${id} is not installed.`, 'not_installed')
      report(json, { id, freedBytes }, () => `Removed ${id}; ${bytes(freedBytes)} freed.`)
    })

/** @throws Failure while a running server has requests with the model */
async function requireUnused(dataDir: string, id: string): Promise<void> {
  const server = await serverStatus(dataDir)
  if (server?.engines.some(({ inUse }) => inUse.includes(id)) !== true) return
  throw new Failure(
    `The running server is using ${id}. Wait until it is done (myna ps), or use --force: active requests finish, ` +
      'and new ones are refused.',
    'model_in_use',
  )
}
