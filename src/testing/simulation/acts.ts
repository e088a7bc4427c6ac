/** The simulation's requests to the service: each act sends one and judges the answer. */
import type { Caller } from '../../domain/account.ts'
import type { Operation } from '../../domain/operation.ts'
import type { SpeechRequest } from '../../domain/speech.ts'
import { cancelOperation, inspectOperation } from '../../service/operations.ts'
import type { UsageRow } from '../../service/ports/records.ts'
import { Client, Watched } from './client.ts'
import { bookedMicros, type Body, type Followed } from './model.ts'
import type { Stage } from './stage.ts'
import { type AskDrawn, soundOf, type WorldEvent } from './workload.ts'
import type { KnownAccount, KnownKey, OperationRow } from './facts.ts'

/** Several requests are sent in the same instant. */
export async function ask(stage: Stage, asks: readonly AskDrawn[], leftAtOnce: boolean): Promise<void> {
  const before = stage.books.operations
  const clients = asks.map((drawn) => {
    const gone = new AbortController()
    const client = new Client({ ...drawn, client: stage.clients.length }, begin(stage, drawn, gone.signal), gone)
    stage.clients.push(client)
    if (leftAtOnce) gone.abort()
    return client
  })
  await stage.follow(() => {
    const fresh = [...stage.books.operations.values()].filter(({ id }) => !before.has(id))
    for (const [index, client] of clients.entries()) judgeAsk(stage, client, { index, fresh, leftAtOnce })
  })
}

async function begin(stage: Stage, { body, key, idempotencyKey }: AskDrawn, gone: AbortSignal) {
  const { speech } = stage.process
  const caller = await enter(stage, key.secret, key.id)
  return speech.begin(caller, requestOf(body), idempotencyKey, gone)
}

const requestOf = (body: Body): SpeechRequest => ({
  model: null,
  voice: body.voice,
  input: body.text,
  format: body.format,
  speed: 1,
  streamFormat: 'audio',
  instructions: null,
  language: null,
  seed: null,
  sampleRateHz: body.rateHz,
})

const enter = (stage: Stage, secret: string, from: string): Promise<Caller> =>
  stage.process.authenticator.authenticate({ kind: 'secret', secret }, from)

interface Circumstances {
  /** One of several requests in the same instant: a later one may meet any state in between. */
  index: number
  /** New records, oldest first; the one that belongs to the request is chosen. */
  fresh: OperationRow[]
  leftAtOnce: boolean
}

function judgeAsk(stage: Stage, client: Client, { index, fresh, leftAtOnce }: Circumstances): void {
  const { ask, begun } = client
  const { model } = stage
  const atDoor = stage.door.refusal(ask.key, ask.key.id)
  const due = atDoor === null ? model.verdicts(ask) : [atDoor]
  // The one before it ended in the same instant, but its ending was not written yet when this one was admitted.
  const endedMeanwhile = leftAtOnce || stage.disk !== 'free'
  if (index > 0 && endedMeanwhile && due.includes('storage_full')) due.push('admitted')
  const isRefused = begun.state === 'error' && begun.refusal?.operationId === undefined
  stage.note(`asked: ${isRefused ? begun.code : 'admitted'}`)
  stage.trace.push(isRefused ? `  refused: ${begun.code}` : `  admitted: ${fresh[0]?.id}`)
  if (isRefused) return judgeRefusal(stage, client, index, due)
  const row = fresh.shift()
  if (row === undefined) {
    // The process may have died before the commit.
    if (stage.process.dead) return
    return stage.fail(`client ${ask.client} was not refused (${begun.code}), and has no record`)
  }
  if (stage.model.clones.isVoice(ask.body.voice)) stage.note('spoke with a cloned voice')
  if (!due.includes('admitted')) stage.fail(`client ${ask.client} was admitted; due was ${due.join()}`)
  const is = [row.account_id, row.key_id, row.input_chars, row.key_supplied, row.created_at_ms]
  const { body, key, idempotencyKey } = ask
  const wanted = [key.account.id, key.id, body.chars, idempotencyKey === null ? 0 : 1, stage.clock.nowMs()]
  stage.compare(`the record of client ${ask.client}`, is.join(), wanted.join())
  client.operation = model.admit(row.id, ask, { sound: soundOf(row.id), leftAtOnce })
}

function judgeRefusal(stage: Stage, { ask, begun }: Client, index: number, due: string[]): void {
  const { model } = stage
  if (index > 0) {
    due.push(...model.verdicts({ ...ask, idempotencyKey: null }).filter((verdict) => verdict !== 'admitted'))
    if (model.underWay(ask.key.account) + index >= stage.settings.concurrency) due.push('concurrency_limit_exceeded')
    // The requests before it reserve a place each, before the database shows which of them is a duplicate.
    if (model.live.length + index >= stage.settings.streams) due.push('engine_overloaded')
  }
  if (!due.includes(begun.code)) stage.fail(`client ${ask.client} was refused: ${begun.code}; due was ${due.join()}`)
  const named = begun.refusal?.extras.operation_id
  if (named === undefined) return
  const holder = model.holder(ask)
  const outcome = holder === null || holder.settledMs === null ? null : holder.ending?.outcome
  const is = [named, begun.refusal?.extras.state, begun.refusal?.extras.outcome]
  const wanted = [holder?.id, outcome === null ? 'pending' : 'terminal', outcome]
  stage.compare('the refusal names', JSON.stringify(is), JSON.stringify(wanted))
}

/** Inspects or cancels. */
export async function touch(stage: Stage, kind: 'cancel' | 'inspect', key: KnownKey, id: string): Promise<void> {
  const { ledger, speech } = stage.process
  const answer = new Watched<boolean | Operation>(
    enter(stage, key.secret, key.id).then<boolean | Operation>((caller) =>
      kind === 'cancel' ? cancelOperation(caller, id, ledger, speech) : inspectOperation(caller, id, ledger),
    ),
  )
  await stage.follow(() => {
    const operation = stage.model.find(id)
    const refusal = stage.door.refusal(key, key.id) ?? touchRefusal(stage, key, operation)
    stage.note(`${kind}: ${refusal ?? 'answered'}`)
    if (refusal !== null || operation === undefined) return stage.compare(kind, answer.code, refusal)
    const { settledMs, ending } = operation
    const outcome = settledMs === null ? null : ending?.outcome
    if (kind === 'cancel') {
      stage.compare('cancel', answer.value, outcome === null)
      return stage.model.cancel(operation)
    }
    const { value } = answer
    if (typeof value !== 'object') return stage.fail(`inspect: ${answer.code}`)
    const is = [value.id, value.outcome, value.chargedMicros, value.completionBytes]
    const bytes = outcome === 'completed' ? ending?.completionBytes : null
    stage.compare('inspect', JSON.stringify(is), JSON.stringify([id, outcome, bookedMicros(operation), bytes]))
  })
}

/** Another account, an unknown id and an expired record all give the same 404; only then is the scope checked. */
function touchRefusal(stage: Stage, key: KnownKey, operation: Followed | undefined): string | null {
  const own = operation !== undefined && operation.ask.key.account === key.account
  if (!own || operation.removed || stage.model.isExpired(operation)) return 'operation_not_found'
  return key.scopes === null || key.scopes.includes('tts') ? null : 'insufficient_scope'
}

/** Guesses keys. */
export async function intrude(stage: Stage): Promise<void> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const answer = new Watched(enter(stage, 'sk-myna-guessed', 'stranger'))
    await stage.follow(() => {
      stage.compare('the stranger', answer.code, stage.door.refusal(null, 'stranger'))
      stage.note(`stranger: ${answer.code}`)
    })
  }
}

type Command = Extract<WorldEvent, { kind: 'credit' | 'disable' | 'revoke' }>

/** An administrator's command. It succeeds, or it is refused because the disk is full, and then it has no effect. */
export async function administer(stage: Stage, command: Command): Promise<void> {
  const { verbs } = stage.process
  switch (command.kind) {
    case 'credit': {
      const { account, micros } = command
      const credited = verbs.credit({ name: account.name, amountMicros: micros })
      return commanded(stage, credited, () => (account.creditedMicros += micros))
    }
    case 'disable':
      return disable(stage, command.account)
    case 'revoke':
      return commanded(stage, verbs.revokeKey({ id: command.key.id }), () => (command.key.revoked = true))
  }
}

/** The last administrator cannot be removed, and these lives have only one. */
async function disable(stage: Stage, account: KnownAccount): Promise<void> {
  const disabled = stage.process.verbs.disableAccount({ name: account.name })
  if (!account.admin) return commanded(stage, disabled, () => (account.disabled = true))
  const answer = new Watched(disabled)
  await stage.follow(() => {
    const isUnwritten = stage.disk !== 'free' && answer.code === 'storage_full'
    if (!isUnwritten) stage.compare('disabling the last administrator', answer.code, 'validation_error')
  })
}

async function commanded(stage: Stage, verb: Promise<unknown>, apply: () => void): Promise<void> {
  const answer = new Watched(verb)
  await stage.follow(() => {
    if (answer.state === 'value') return apply()
    if (stage.disk === 'free' || answer.code !== 'storage_full') stage.fail(`the command got ${answer.code}`)
  })
}

/** The engine's child process dies, and its successor knows none of its streams. */
export async function endEngine(stage: Stage): Promise<void> {
  const gone = [...stage.process.streams].flatMap(([id, stream]) => {
    stream.vanish()
    return stage.model.find(id) ?? []
  })
  stage.process.learners.vanish()
  const deaf = stage.model.listenings.live.filter(({ id }) => stage.process.gates.has(id))
  for (const gate of stage.process.gates.values()) gate.vanish()
  await stage.follow(() => {
    for (const operation of gone) stage.model.engineVanishes(operation)
    stage.model.clones.engineVanishes()
    for (const listening of deaf) stage.model.listenings.engineVanishes(listening)
  })
}

export async function sweep(stage: Stage): Promise<void> {
  const expired = stage.model.operations.filter((each) => !each.removed && stage.model.isExpired(each))
  const { clones } = stage.model
  const expiredClones = clones.all.filter((each) => !each.removed && clones.isExpired(each))
  const answer = new Watched(stage.process.ledger.sweep())
  await stage.follow(() => {
    if (answer.code === 'storage_full' && stage.disk !== 'free') return
    stage.compare('sweep', answer.value, expired.length + expiredClones.length)
    const left = [
      ...expired.filter(({ id }) => stage.books.operations.has(id)),
      ...expiredClones.filter(({ id }) => stage.cloneBooks.operations.has(id)),
    ]
    if (left.length > 0) stage.fail(`the sweep left ${left.map(({ id }) => id).join()}`)
  })
}

/** The usage report equals the sum of all events. */
export async function report(stage: Stage, account: KnownAccount): Promise<void> {
  const everMs = 8e15
  const query = { accountId: account.id, startMs: 1, endMs: everMs, bucketMs: everMs, groupBy: [] }
  const answer = new Watched<UsageRow[]>(stage.process.ledger.usage(query))
  await stage.follow(() => {
    const used = stage.model.operations.flatMap(({ ask, ending, settledMs }) =>
      ask.key.account === account && settledMs !== null && ending !== null && ending.usedChars > 0 ? [ending] : [],
    )
    const sum = (pick: (ending: (typeof used)[number]) => number) => used.reduce((all, one) => all + pick(one), 0)
    const due = [used.length, sum((one) => one.usedChars), sum((one) => one.audioMs), sum((one) => one.chargedMicros)]
    const row = answer.value?.find(({ type }) => type === 'speech')
    const is = row === undefined ? [0, 0, 0, 0] : [row.requests, row.characters, row.audioMs, row.chargedMicros]
    stage.compare('usage', is.join(), due.join())
    const cloned = answer.value?.find(({ type }) => type === 'clone')
    const clonesAre = cloned && [cloned.requests, cloned.chargedMicros, cloned.refundedMicros, cloned.free]
    const heard = stage.model.listenings.all.filter(
      ({ key, begun, isSettled, ending }) =>
        key.account === account && begun && isSettled && (ending?.heardMs ?? 0) > 0,
    )
    const listened = answer.value?.find(({ type }) => type === 'transcription')
    const heardMs = heard.reduce((all, { ending }) => all + (ending?.heardMs ?? 0), 0)
    const listenedIs = [listened?.requests ?? 0, listened?.audioMs ?? 0]
    stage.compare('usage of transcriptions', listenedIs.join(), [heard.length, heardMs].join())
    stage.compare('usage of clones', (clonesAre ?? [0, 0, 0, 0]).join(), usedByClones(stage, account).join())
  })
}

/** Requests, charged, refunded and free, for clones that became a voice; the refunds of all others are reported too. */
function usedByClones({ model }: Stage, account: KnownAccount): number[] {
  const own = model.clones.all.filter(({ ask, settledMs }) => ask.key.account === account && settledMs !== null)
  const made = own.filter(({ ending }) => ending?.outcome === 'completed')
  const sum = (clones: typeof own) => clones.reduce((all, { priceMicros }) => all + priceMicros, 0)
  return [made.length, sum(made), sum(own) - sum(made), made.filter(({ isFree }) => isFree).length]
}
