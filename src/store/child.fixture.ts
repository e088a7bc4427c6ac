/**
 * The other process of the tests, which may be killed at any moment: `bun child.fixture.ts MODE FOLDER [ARGUMENT]`. It
 * says on standard output, line by line, what it has done.
 */
import { newId, systemRandom } from '../domain/id.ts'
import { settleSpeech } from '../domain/operation.ts'
import { systemClock } from '../domain/time.ts'
import { codeOf } from './errors.ts'
import { openDatabase } from './database.ts'
import { SqliteAccounts } from './accounts.ts'
import { SqliteLedger } from './ledger.ts'
import { acquireLock, isLocked } from './lock.ts'

const [mode, dataDir = '', argument = ''] = Bun.argv.slice(2)

async function books() {
  const database = await openDatabase(dataDir)
  const accounts = new SqliteAccounts(database, { clock: systemClock, random: systemRandom })
  const ledger = new SqliteLedger(database, { clock: systemClock })
  const account = (await accounts.list())[0]
  const key = (await accounts.listKeys(null))[0]
  if (account === undefined || key === undefined) throw new Error('The test made no account')
  return { database, ledger, accountId: account.id, keyId: key.id }
}

function order(accountId: string, keyId: string, keyHash: string | null) {
  const operationId = newId('op', Date.now(), systemRandom)
  const fingerprint = 'f'.repeat(64)
  const priced = { inputChars: 10, priceMicros: 150, keyHash, fingerprint }
  return { operationId, accountId, keyId, model: 'flite', voiceId: 'slt', ...priced }
}

/** Holds the lock until it is killed or its standard input ends. */
async function lock(): Promise<void> {
  try {
    acquireLock(dataDir)
    console.log('locked')
  } catch (error) {
    console.log(String(error))
    return
  }
  await Bun.stdin.text()
}

/** Asks for ever whether the folder is locked. */
async function ask(): Promise<void> {
  console.log('asking')
  for (;;) isLocked(dataDir)
}

async function open(): Promise<void> {
  const database = await openDatabase(dataDir)
  console.log(database.all<{ name: string }>('SELECT name FROM migrations').length)
  database.close()
}

/** One admission under the key that is named. */
async function admit(): Promise<void> {
  const { database, ledger, accountId, keyId } = await books()
  console.log('ready')
  await Bun.stdin.text()
  const outcome = await ledger.admitSpeech(order(accountId, keyId, argument)).then(
    () => 'admitted',
    (error: unknown) => codeOf(error),
  )
  console.log(outcome)
  database.close()
}

/** Speaks for ever, leaving some operations pending. */
async function write(): Promise<void> {
  const { ledger, accountId, keyId } = await books()
  for (let turn = 0; ; turn++) {
    const { operationId, priceMicros, inputChars } = await ledger
      .admitSpeech(order(accountId, keyId, null))
      .then((operation) => ({ ...operation, operationId: operation.id }))
    await ledger.markStarted(operationId)
    const ending = { started: true, audioSent: true, cancelRequested: turn % 2 === 0, failure: null, clientGone: false }
    const measures = { priceMicros, inputChars, coveredChars: turn % 11, pcmBytes: 4800 }
    if (turn % 4 !== 3) await ledger.settle(operationId, settleSpeech({ ...ending, ...measures }, 24_000))
    if (turn % 5 === 0) console.log(turn)
  }
}

/** Admits until nothing can be written any more, then says why. */
async function fill(): Promise<void> {
  const { ledger, accountId, keyId } = await books()
  console.log('ready')
  for (let admitted = 0; ; admitted++) {
    try {
      await ledger.admitSpeech(order(accountId, keyId, null))
    } catch (error) {
      const cause = error instanceof Error ? codeOf(error.cause) : ''
      console.log(`${codeOf(error)} ${cause} ${admitted}`)
      return
    }
  }
}

const modes: Record<string, () => Promise<void>> = { lock, ask, open, admit, write, fill }
await modes[mode ?? '']?.()
