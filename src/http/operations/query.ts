/** The parameters of a list of operations: an account's own, and for administrators those of all. */
import { outcomes } from '../../domain/operation.ts'
import type { OperationQuery } from '../../service/ports/records.ts'
import { type Fields, parseQuery, type Values, withDefault } from '../fields/field.ts'
import { choice, text, unixTime, wholeNumber } from '../fields/kinds.ts'

const maxOperations = 200
const usualOperations = 50
const maxNameChars = 256

export const operationListFields = {
  limit: withDefault(wholeNumber(1, maxOperations, { about: 'How many to return.' }), usualOperations),
  before: text({ max: maxNameChars, about: 'Only older ones than this operation.' }),
  type: choice(['speech', 'clone'], { about: 'Only these.' }),
  state: choice(['pending', 'terminal'], { about: 'Only those that are still at work, or have ended.' }),
  outcome: choice(outcomes, { about: 'Only those that ended like this.' }),
  model: text({ max: maxNameChars, about: 'Only those of the model with this id.' }),
  start_time: unixTime({ type: 'integer', description: 'Created then or later. Unix time in seconds.' }),
  end_time: unixTime({ type: 'integer', description: 'Created before. Unix time in seconds.' }),
} satisfies Fields

export const adminOperationListFields = {
  ...operationListFields,
  account: text({ max: maxNameChars, about: 'Only those of the account with this name.' }),
} satisfies Fields

/** @throws MynaError `validation_error` */
export const operationQueryOf = (
  given: Values<typeof operationListFields>,
  accountId: string | null,
): OperationQuery => ({
  accountId,
  before: given.before,
  limit: given.limit,
  type: given.type,
  state: given.state,
  outcome: given.outcome,
  model: given.model,
  startMs: given.start_time,
  endMs: given.end_time,
})

/** @throws MynaError `validation_error` */
export const parseOperationQuery = (query: URLSearchParams): Values<typeof operationListFields> =>
  parseQuery(operationListFields, query)
