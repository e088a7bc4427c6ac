/**
 * The other process of the tests, which may be killed at any moment: `bun child.fixture.ts MODE FOLDER [ARGUMENT]`. It
 * reports on standard output, line by line, what it has done.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { newId, systemRandom } from '../domain/id.ts'
import { settleSpeech } from '../domain/operation.ts'
import { systemClock } from '../domain/time.ts'
import { codeOf } from './errors.ts'
import { openSqlite } from './sqlite.ts'
import { SqlAccounts } from './accounts.ts'
import { FolderVoiceFiles } from './clips.ts'
import { SqlLedger } from './ledger/ledger.ts'
import { acquireLock, isLocked } from './lock.ts'
import { openPostgres } from './postgres/postgres.ts'
import { SqlVoices } from './voices.ts'

const [mode, dataDir = '', argument = ''] = Bun.argv.slice(2)

async function books() {
  const database = await (dataDir.startsWith('postgres:') ? openPostgres(dataDir) : openSqlite(dataDir))
  const accounts = new SqlAccounts(database, { clock: systemClock, random: systemRandom })
  const ledger = new SqlLedger(database, { clock: systemClock })
  const account = (await accounts.list())[0]
  const key = (await accounts.listKeys(null))[0]
  if (account === undefined || key === undefined) throw new Error('The test made no account')
  const voices = new SqlVoices(database, { clock: systemClock })
  return { database, ledger, voices, accountId: account.id, keyId: key.id }
}

function order(accountId: string, keyId: string, keyHash: string | null) {
  const operationId = newId('op', Date.now(), systemRandom)
  const fingerprint = 'f'.repeat(64)
  const priced = { inputChars: 10, priceMicros: 150, keyHash, fingerprint }
  return { operationId, accountId, keyId, model: 'hibari', voiceId: 'wren', ...priced }
}

/** Holds the lock until it is killed or its standard input ends. */
async function lock(): Promise<void> {
  try {
    const held = acquireLock(dataDir)
    console.log('locked')
    await Bun.stdin.text()
    // Named to the end: the collector closes a file that is not, and with it the lock.
    held.release()
  } catch (error) {
    console.log(String(error))
  }
}

/** Asks forever whether the folder is locked. */
async function ask(): Promise<void> {
  console.log('asking')
  for (;;) isLocked(dataDir)
}

async function open(): Promise<void> {
  const database = await openSqlite(dataDir)
  console.log((await database.all<{ name: string }>('SELECT name FROM migrations')).length)
  await database.close()
}

/** One admission under the named key. */
async function admit(): Promise<void> {
  const { database, ledger, accountId, keyId } = await books()
  console.log('ready')
  await Bun.stdin.text()
  const outcome = await ledger.admitSpeech(order(accountId, keyId, argument)).then(
    () => 'admitted',
    (error: unknown) => codeOf(error),
  )
  console.log(outcome)
  await database.close()
}

/** Speaks forever, and leaves some operations pending. */
async function write(): Promise<void> {
  const { ledger, accountId, keyId } = await books()
  for (let turn = 0; ; turn++) {
    const { operationId, priceMicros, inputChars } = await ledger
      .admitSpeech(order(accountId, keyId, null))
      .then((operation) => ({ ...operation, operationId: operation.id }))
    const ending = { audioSent: true, cancelRequested: turn % 2 === 0, failure: null, clientGone: false }
    const measures = { priceMicros, inputChars, coveredChars: turn % 11, pcmBytes: 4800 }
    if (turn % 4 !== 3) await ledger.settle(operationId, settleSpeech({ ...ending, ...measures }, 24_000))
    if (turn % 5 === 0) console.log(turn)
  }
}

function cloneOrder(accountId: string, keyId: string) {
  const [operationId, voiceId] = [newId('op', Date.now(), systemRandom), newId('voice', Date.now(), systemRandom)]
  const clip = { fileName: 'a', mimeType: 'audio/wav', sizeBytes: 1, durationMs: 1, hash: 'c'.repeat(64) }
  const limits = { isAdmin: false, priceMicros: 1000, freeClones: 1, maxVoices: 8 }
  const described = { name: 'Ada', description: null, labels: {}, language: null, aliases: [voiceId], consent: null }
  const made = { isPublic: false, model: 'hibari', fidelity: 'approximate' as const, clip }
  return { operationId, accountId, keyId, keyHash: null, voiceId, ...limits, ...described, ...made }
}

/** Clones forever, with files, as the service does; deletes, fails and forgets some on the way. */
async function clone(): Promise<void> {
  const { ledger, voices, accountId, keyId } = await books()
  const files = new FolderVoiceFiles(dataDir)
  for (let turn = 0; ; turn++) {
    const { id, voiceId } = await ledger.admitClone(cloneOrder(accountId, keyId))
    if (voiceId === null) throw new Error('A clone has a voice')
    if (turn % 6 !== 5) await ledger.markStarted(id)
    await files.put(voiceId, someFiles(100_000))
    if (turn % 3 === 1) await ledger.failClone(id, 'failed', { code: 'clip_refused', message: 'By turn.' })
    else if (turn % 6 !== 5) await ledger.completeClone(id)
    const kept = turn % 3 === 0 && turn % 2 === 0
    if (!kept && turn % 6 !== 5) {
      await voices.remove(voiceId, accountId)
      await files.remove(voiceId)
    }
    // Leaves room below the cap.
    if (kept) for (const old of (await voices.ids()).slice(0, -2)) await voices.remove(old, accountId)
    console.log(turn)
  }
}

const someFiles = (size: number) => ({
  clip: new Uint8Array(size).fill(1),
  'reference.wav': new Uint8Array(size).fill(2),
  state: new Uint8Array(size).fill(3),
  'preview.wav': new Uint8Array(size).fill(4),
})

/** Writes files of that size under new ids until writing fails, then prints the reason. */
async function put(): Promise<void> {
  const files = new FolderVoiceFiles(dataDir)
  for (let turn = 0; ; turn++) {
    const error = await files.put(`voice_${turn}`, someFiles(Number(argument))).catch((error: unknown) => error)
    if (error instanceof Error) {
      console.log(`${codeOf(error)} ${codeOf(error.cause)} ${turn}`)
      for (let left = 0; left <= turn; left++) {
        console.log(`${left} ${(await files.read(`voice_${left}`, 'state'))?.length ?? 'none'}`)
      }
      const entries = readdirSync(join(dataDir, 'voices'))
      console.log(entries.filter((name) => name.startsWith('.')).join() || 'no half')
      return
    }
    console.log(turn)
  }
}

/** Admits until writing fails, then prints the reason. */
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

const modes: Record<string, () => Promise<void>> = { lock, ask, open, admit, write, clone, put, fill }
await modes[mode ?? '']?.()
