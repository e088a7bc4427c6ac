/**
 * Administration over HTTP for the console: the same verbs as on the command line.
 */
import { Elysia } from 'elysia'
import type { Account, LimitName, OwnLimits } from '../../domain/account.ts'
import { MynaError } from '../../domain/error.ts'
import type { Administration } from '../../service/accounts.ts'
import { type Body, type BodyLimits, readJson } from '../body.ts'
import { keyRecord, seconds, secondsOrNull } from './records.ts'
import { json, type Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'

export interface ConsoleAdminParts {
  gate: Gate
  administration: Administration
  bodyLimits: BodyLimits
}

const accountsPath = '/console/api/admin/accounts'
const keysPath = '/console/api/admin/keys'

export function consoleAdminRoutes(route: Route, { gate, administration, bodyLimits }: ConsoleAdminParts) {
  const hidden = { detail: { hide: true } }
  const change = { parse: 'none', ...hidden } as const
  const list = route(accountsPath, async (exchange) => {
    await gate.enterAdmin(exchange)
    const data = (await administration.listAccounts()).map(accountRecord)
    return json({ object: 'list', data })
  })
  const create = route(accountsPath, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const role = body.is_admin === true ? 'admin' : 'user'
    const account = { name: textOf(body, 'name'), role, balanceMicros: wholeOrNull(body, 'balance_micros') } as const
    return json(accountRecord(await administration.createAccount(account)), 201)
  })
  const credit = route(`${accountsPath}/credit`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const amountMicros = wholeOrNull(body, 'amount_micros') ?? 0
    return json(accountRecord(await administration.credit({ name: textOf(body, 'name'), amountMicros })))
  })
  const setMetering = route(`${accountsPath}/metering`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const change = { name: textOf(body, 'name'), balanceMicros: wholeOrNull(body, 'balance_micros') }
    return json(accountRecord(await administration.setMetering(change)))
  })
  const disable = route(`${accountsPath}/disable`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    return json(accountRecord(await administration.disableAccount({ name: textOf(body, 'name') })))
  })
  const enable = route(`${accountsPath}/enable`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    return json(accountRecord(await administration.enableAccount({ name: textOf(body, 'name') })))
  })
  const rename = route(`${accountsPath}/rename`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const names = { name: textOf(body, 'name'), to: textOf(body, 'new_name') }
    return json(accountRecord(await administration.renameAccount(names)))
  })
  const setRole = route(`${accountsPath}/role`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const role = body.is_admin === true ? 'admin' : 'user'
    return json(accountRecord(await administration.setRole({ name: textOf(body, 'name'), role })))
  })
  const remove = route(`${accountsPath}/remove`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const { voicesDeleted } = await administration.removeAccount({ name: textOf(body, 'name') })
    return json({ object: 'account.deleted', voices_deleted: voicesDeleted })
  })
  return new Elysia()
    .get(accountsPath, list, hidden)
    .post(accountsPath, create, change)
    .post(`${accountsPath}/credit`, credit, change)
    .post(`${accountsPath}/metering`, setMetering, change)
    .post(`${accountsPath}/disable`, disable, change)
    .post(`${accountsPath}/enable`, enable, change)
    .post(`${accountsPath}/rename`, rename, change)
    .post(`${accountsPath}/role`, setRole, change)
    .post(`${accountsPath}/remove`, remove, change)
    .use(limitRoutes(route, { gate, administration, bodyLimits }))
    .use(keyRoutes(route, { gate, administration, bodyLimits }))
}

function limitRoutes(route: Route, { gate, administration, bodyLimits }: ConsoleAdminParts) {
  const setLimits = route(`${accountsPath}/limits`, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const limits = body.limits === null ? null : limitsOf(body)
    return json(accountRecord(await administration.setLimits({ name: textOf(body, 'name'), limits })))
  })
  return new Elysia().post(`${accountsPath}/limits`, setLimits, { parse: 'none', detail: { hide: true } })
}

function keyRoutes(route: Route, { gate, administration, bodyLimits }: ConsoleAdminParts) {
  const hidden = { detail: { hide: true } }
  const list = route(keysPath, async (exchange) => {
    await gate.enterAdmin(exchange)
    const keys = await administration.listKeys({ account: null })
    return json({ object: 'list', data: keys.map((key) => ({ ...keyRecord(key), account: key.accountName })) })
  })
  const create = route(keysPath, async (exchange) => {
    await gate.enterAdmin(exchange)
    const body = await readJson(exchange.request, bodyLimits)
    const { key, account, secret } = await administration.createKey({
      account: textOf(body, 'account'),
      name: textOf(body, 'name'),
      scopes: textsOrNull(body, 'scopes'),
      expires: body.expires === undefined || body.expires === null ? null : textOf(body, 'expires'),
    })
    return json({ ...keyRecord(key), account: account.name, secret }, 201)
  })
  const revoke = route(`${keysPath}/{key_id}`, async (exchange) => {
    await gate.enterAdmin(exchange)
    await administration.revokeKey({ id: exchange.params.key_id ?? '' })
    return new Response(null, { status: 204 })
  })
  return new Elysia()
    .get(keysPath, list, hidden)
    .post(keysPath, create, { parse: 'none', ...hidden })
    .delete(`${keysPath}/:key_id`, revoke, { parse: 'none', ...hidden })
}

const accountRecord = (account: Account) => ({
  id: account.id,
  name: account.name,
  is_admin: account.role === 'admin',
  balance_micros: account.balanceMicros,
  limits: Object.fromEntries(Object.entries(limitFields).map(([field, name]) => [field, account.limits[name]])),
  created_at: seconds(account.createdAtMs),
  disabled_at: secondsOrNull(account.disabledAtMs),
})

/** Names of an account's own limits, as in the account's record at `/v1/me`. */
const limitFields: Readonly<Record<string, LimitName>> = {
  speech_concurrency: 'speechConcurrency',
  transcription_concurrency: 'transcriptionConcurrency',
  speech_requests_per_minute: 'speechPerMinute',
  transcription_requests_per_minute: 'transcriptionsPerMinute',
  requests_per_minute: 'requestsPerMinute',
}

/** Those that are given. */
function limitsOf({ limits }: Body): Partial<OwnLimits> {
  const isRecord = typeof limits === 'object' && limits !== null && !Array.isArray(limits)
  const unknown = isRecord ? Object.keys(limits).find((field) => !Object.hasOwn(limitFields, field)) : ''
  if (!isRecord || unknown !== undefined) {
    const message = `The field 'limits' must be null, or an object with ${Object.keys(limitFields).join(', ')}.`
    throw new MynaError('validation_error', message, { param: 'limits' })
  }
  const given = limits as Body
  return Object.fromEntries(Object.keys(given).map((field) => [limitFields[field], wholeOrNull(given, field)]))
}

/** The verbs check the values, as they do for the command line. */
const textOf = (body: Body, field: string): string => {
  const value = body[field]
  if (typeof value === 'string') return value
  throw new MynaError('validation_error', `The field '${field}' must be text.`, { param: field })
}

const wholeOrNull = (body: Body, field: string): number | null => {
  const value = body[field]
  if (value === undefined || value === null) return null
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new MynaError('validation_error', `The field '${field}' must be a whole number.`, { param: field })
}

const textsOrNull = (body: Body, field: string): string[] | null => {
  const value = body[field]
  if (value === undefined || value === null) return null
  if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value
  throw new MynaError('validation_error', `The field '${field}' must be a list of texts.`, { param: field })
}
