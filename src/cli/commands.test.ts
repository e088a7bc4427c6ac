import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { hashSecret } from '../domain/account.ts'
import { systemRandom } from '../domain/id.ts'
import { systemClock } from '../domain/time.ts'
import { SqlAccounts } from '../store/accounts.ts'
import { openSqlite } from '../store/sqlite.ts'
import { SqlLedger } from '../store/ledger/ledger.ts'
import { runCommand, startCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'

// Ten processes in a row, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const dayMs = 86_400_000
const dataDir = join(temporaryFolder(), 'data')
const myna = (...args: string[]) => runCommand(args, { env: { MYNA_DATA: dataDir } })

async function mynaJson(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await myna(...args, '--json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

let secret = ''

beforeAll(async () => {
  await myna('accounts', 'create', 'anna', '--prepaid', '5usd')
  const issued = (await mynaJson('keys', 'create', '--account', 'ben', '--expires', '30d', '--name', 'phone')) as {
    secret: string
  }
  secret = issued.secret
})

test('an account is created, credited, listed and disabled', async () => {
  expect((await myna('accounts', 'credit', 'anna', '0.25usd')).stdout).toBe("The balance of 'anna' is now $5.25.\n")
  expect(await mynaJson('accounts', 'create', 'root', '--admin')).toMatchObject({ role: 'admin', balance_micros: null })
  expect(await mynaJson('accounts', 'create', 'boss', '--admin')).toMatchObject({ role: 'admin' })
  expect(await mynaJson('accounts', 'disable', 'root')).toMatchObject({ disabled_at_ms: expect.any(Number) })
  const { stdout } = await myna('accounts', 'list')
  expect(stdout).toMatch(/^NAME +ROLE +BALANCE +CREATED +STATE +LIMITS +ID\n/)
  expect(stdout).toMatch(/\nanna +user +\$5\.25 +\d{4}-\d\d-\d\d +active +default +acct_/)
  expect(stdout).toMatch(/\nroot +admin +unmetered +\S+ +disabled /)
})

test('an account has limits of its own until they are removed', async () => {
  await myna('accounts', 'create', 'lea')
  const limited = await myna('accounts', 'limit', 'lea', '--parallel-speech', '4', '--speech-per-minute', '60')
  expect(limited.stdout).toBe("The account 'lea': 4 speech requests at once, 60 speech requests a minute.\n")
  expect((await myna('accounts', 'limit', 'lea', '--parallel-speech', 'default')).code).toBe(0)
  expect(await mynaJson('accounts', 'show', 'LEA')).toMatchObject({
    limits: { speech_concurrency: null, speech_per_minute: 60, requests_per_minute: null },
  })
  expect((await myna('accounts', 'show', 'lea')).stdout).toContain('60 speech requests a minute')
  expect((await myna('accounts', 'list')).stdout).toMatch(/\nlea .* its own +acct_/)
  for (const wrong of [
    ['--parallel-speech', '0'],
    ['--parallel-speech', 'many'],
    [],
    ['--default', '--parallel-speech', '1'],
  ]) {
    expect((await myna('accounts', 'limit', 'lea', ...wrong)).code).toBe(2)
  }
  expect((await myna('accounts', 'limit', 'lea', '--default')).stdout).toContain("limits of the server's settings")
  expect((await myna('accounts', 'show', 'nina')).stderr).toContain("There is no account 'nina'")
  expect((await myna('audit')).code).toBe(0)
})

test('an account becomes unmetered and prepaid again', async () => {
  await myna('accounts', 'create', 'mia', '--prepaid', '1usd')
  expect((await myna('accounts', 'unmetered', 'mia')).stdout).toBe("The account 'mia' is unmetered now.\n")
  expect((await myna('accounts', 'prepaid', 'mia', '2.50usd')).stdout).toBe(
    "The account 'mia' is prepaid now, with a balance of $2.50.\n",
  )
  const { code, stderr } = await myna('accounts', 'prepaid', 'mia', '1usd')
  expect([code, stderr]).toEqual([1, expect.stringContaining('myna accounts credit mia 5usd')])
  expect((await myna('audit')).code).toBe(0)
})

test('an account is enabled, renamed, given a role and removed', async () => {
  await myna('accounts', 'create', 'carl')
  await myna('accounts', 'disable', 'carl')
  expect((await myna('accounts', 'enable', 'carl')).stdout).toBe("The account 'carl' is enabled.\n")
  expect((await myna('accounts', 'rename', 'carl', 'Karl')).stdout).toBe("The account 'carl' is now called 'Karl'.\n")
  expect((await myna('accounts', 'role', 'karl', 'admin')).stdout).toBe("The account 'Karl' is now an administrator.\n")
  expect((await myna('accounts', 'role', 'karl', 'user')).stdout).toBe("The account 'Karl' is now an ordinary user.\n")
  expect((await myna('accounts', 'rm', 'karl')).stdout).toBe("The account 'karl' is removed.\n")
  expect((await myna('accounts', 'list')).stdout).toMatch(/\nKarl \(removed \w{8}\) +user /)
})

test('a key is printed once, with how to use it, and authenticates', async () => {
  const { stdout } = await myna('keys', 'create', '--account', 'ben', '--scopes', 'tts, voices')
  expect(stdout).toContain("Key of 'ben' (scopes tts, voices, no expiry)")
  const printed = /\n {2}(sk-myna-\w{43})\n/.exec(stdout)?.[1] ?? ''
  expect(stdout).toContain(`export MYNA_API_KEY=${printed}`)
  const list = await myna('keys', 'list', '--account', 'ben')
  expect(list.stdout).not.toContain(printed)
  expect(list.stdout).toMatch(/ben +phone +sk-myna-\w{4}\.\.\. +all +\S+ +never +until \d{4}/)
  const database = await openSqlite(dataDir)
  const accounts = new SqlAccounts(database, { clock: systemClock, random: systemRandom })
  expect((await accounts.findByKey(hashSecret(printed)))?.account.name).toBe('ben')
  await database.close()
})

test('--json may be anywhere, and errors are then data too', async () => {
  for (const args of [
    ['--json', 'keys', 'revoke', 'key_none'],
    ['keys', '--json', 'revoke', 'key_none'],
    ['keys', 'revoke', 'key_none', '--json'],
  ]) {
    const { code, stderr } = await myna(...args)
    expect(code).toBe(1)
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'validation_error' } })
  }
})

test('--data wins over the environment', async () => {
  const other = join(temporaryFolder(), 'other')
  await myna('--data', other, 'accounts', 'create', 'zoe')
  expect(await mynaJson('accounts', 'list', '--data', other)).toMatchObject([{ name: 'zoe' }])
})

test('misuse exits with 2 and says what would be right', async () => {
  const cases: [string[], string][] = [
    [['acounts'], "There is no command 'acounts'. Did you mean accounts? See: myna --help"],
    [['keys', 'creat'], 'Did you mean create? See: myna keys --help'],
    [['run'], 'Did you mean: myna serve?'],
    [['nope', '--help'], "There is no command 'nope'"],
    [['help', 'keys', 'nope'], "There is no command 'nope'. See: myna keys --help"],
    [['--data'], 'The option --data <dir> needs a value.'],
    [['accounts', 'create'], 'The argument <name> is missing. See: myna accounts create --help'],
    [
      ['accounts', 'create', 'Ada', 'Love'],
      'Expected 1 argument, but got 2: Ada, Love. Put what has spaces into quotes.',
    ],
    [['serve', '--port', '99999'], "--port cannot be '99999'. Expected a port from 0 to 65535."],
    [['db', 'move'], 'Name the database: --to postgres://USER@HOST/NAME, or MYNA_DATABASE.'],
    [['models', 'import', 'whisper-base'], 'Give the path of a folder or an archive with its files, after the id.'],
    [['keys', 'list', 'all'], 'No argument is expected, but there is: all.'],
    [['completion', 'tcsh'], "<shell> cannot be 'tcsh'. Allowed choices are bash, zsh, fish."],
    [['accounts'], 'Usage: myna accounts'],
    [[], 'First steps:'],
    [['keys', 'create'], 'The option --account <name> is missing. See: myna keys create --help'],
    [['accounts', 'credit', 'anna', '1.5'], 'Expected an amount such as 5usd'],
    [['accounts', 'create', 'x', '--prepaid', '-5usd'], 'Expected an amount'],
    [['accounts', 'create', 'x', '--prepaid', '5'], 'Write 5usd for US dollars, or 5micros'],
    [['usage', '--since', 'tomorrow'], "--since cannot be 'tomorrow'. Expected 12h, 30d"],
    [['accounts', 'list', '--colour'], "There is no option '--colour'. See: myna accounts list --help"],
  ]
  for (const [args, words] of cases) {
    const { code, stderr } = await myna(...args)
    expect([args, code]).toEqual([args, 2])
    expect(stderr).toContain(words)
  }
  const data = await myna('keys', 'creat', '--json')
  expect([data.code, JSON.parse(data.stderr)]).toMatchObject([2, { error: { code: 'misuse' } }])
  const setting = await runCommand(['keys', 'list'], { env: { MYNA_PORT: 'http' } })
  expect(setting).toMatchObject({ code: 2, stderr: expect.stringContaining('MYNA_PORT=http') })
})

test('help and version exit with 0', async () => {
  for (const args of [['--help'], ['help', 'keys'], ['keys', 'create', '--help'], ['--version'], ['version'], ['-v']]) {
    const { code, stdout, stderr } = await myna(...args)
    expect([args, code, stderr]).toEqual([args, 0, ''])
    expect(stdout).not.toBe('')
  }
  expect((await myna('help', 'keys', 'create')).stdout).toStartWith('Usage: myna keys create')
  expect((await myna('keys', '--help')).stdout).toContain('myna keys create --account alice --scopes tts')
})

test('a reader that has seen enough is no failure', async () => {
  const command = startCommand(['licenses'])
  const reader = command.stdout.getReader()
  await reader.read()
  await reader.cancel()
  expect([await new Response(command.stderr).text(), await command.exited]).toEqual(['', 0])
})

test('a refusal exits with 1 and one sentence on stderr', async () => {
  const { code, stdout, stderr } = await myna('accounts', 'create', 'ANNA')
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toBe("myna: An account 'ANNA' already exists.\n")
})

test('models are listed and shown from their cards', async () => {
  const list = (await mynaJson('models', 'list')) as { id: string; installed: boolean }[]
  expect(list[0]).toMatchObject({ id: 'hibari', installed: true, sample_rate_hz: 24000 })
  expect((await myna('models', 'list')).stdout).toMatch(/\nhibari +speech +built in +- +/)
  const { stdout } = await myna('models', 'show', 'hibari')
  expect(stdout).toContain('alloy')
  expect(stdout).toContain('Maureese Williams')
  expect((await myna('models', 'show', 'none')).stderr).toContain("There is no model 'none'")
})

test('usage is a table by account and day, its sums, and a plot', async () => {
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs
  await speakAt(todayMs - 2 * dayMs + 1000, 400, 'op_1')
  await speakAt(todayMs, 1200, 'op_2', 2)
  const usage = (await mynaJson('usage', '--since', '7d')) as { rows: unknown[]; totals: unknown }
  expect(usage.rows).toHaveLength(3)
  expect(usage.rows[0]).toMatchObject({ account_name: 'ben', characters: 400, charged_micros: 6000 })
  const sums = { requests: 4, characters: 1600, audio_ms: 80_000, heard_ms: 18_000, charged_micros: 24_000 }
  expect(usage.totals).toMatchObject(sums)
  const { stdout } = await myna('usage', '--since', '7d', '--account', 'BEN')
  const today = new Date(todayMs).toISOString().slice(0, 10)
  expect(stdout).toMatch(new RegExp(`\\n${today} +ben +3 +1,200 +1 min 0 s +18 s +- +\\$0\\.018\\n`))
  expect(stdout).toMatch(/\ntotal +4 +1,600 +1 min 20 s +18 s +- +\$0\.024\n/)
  expect(stdout).toMatch(new RegExp(`\\n${today} +█+ 1,200\\n$`))
  expect((await myna('usage', '--account', 'anna')).stdout).toContain('No usage')
})

/** 1,200 characters of speech last a minute here. @param transcriptions also included, nine seconds each */
async function speakAt(timeMs: number, characters: number, operationId: string, transcriptions = 0): Promise<void> {
  const parts = { clock: { nowMs: () => timeMs, monotonicMs: () => 0 }, random: systemRandom }
  const database = await openSqlite(dataDir)
  const ledger = new SqlLedger(database, parts)
  const caller = await new SqlAccounts(database, parts).findByKey(hashSecret(secret))
  const ids = { operationId, accountId: caller?.account.id ?? '', keyId: caller?.key.id ?? '', keyHash: null }
  const priceMicros = 15 * characters
  const asked = { model: 'hibari', voiceId: 'lark', fingerprint: 'f'.repeat(64) }
  await ledger.admitSpeech({ ...ids, ...asked, inputChars: characters, priceMicros })
  await ledger.settle(operationId, {
    outcome: 'completed',
    chargedMicros: priceMicros,
    completionBytes: 2 * 24 * 50 * characters,
    error: null,
    usedChars: characters,
    audioMs: 50 * characters,
  })
  const { accountId, keyId } = ids
  for (let done = 0; done < transcriptions; done++) {
    const id = `req_${operationId}_${done}`
    await ledger.beginTranscription({ id, accountId, keyId, model: 'whisper-base' })
    await ledger.endTranscription(id, { outcome: 'completed', errorCode: null, heardMs: 9000 })
  }
  await database.close()
}
