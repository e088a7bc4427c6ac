/** The routes for administrators in the API's document (docs/api.md 10). */
import type { ErrorCode } from '../../domain/error.ts'
import { exampleOperationId } from '../error-codes.ts'
import { parametersOf } from '../fields/field.ts'
import { adminOperationListFields } from '../operation-query.ts'
import { adminUsageFields } from '../usage.ts'
import { detail, ok, pathId } from './parts.ts'
import { keyedCodes, refusals } from './refusals.ts'

const who = 'Requires an unrestricted key of an administrator.'
const adminCodes: readonly ErrorCode[] = [...keyedCodes, 'admin_required']
const operationParameter = pathId('operation_id', 'Of any account.', exampleOperationId)

export const adminOperationsDetail = detail('Administration', 'listAllOperations', 'List operations of all accounts', {
  description:
    'Speech requests and clones of every account, newest first, while their records are kept. The next page begins ' +
    `behind the last id of this one: give it as \`before\`. ${who}`,
  parameters: parametersOf(adminOperationListFields),
  responses: { 200: ok('AdminOperationList', 'The operations.'), ...refusals(...adminCodes, 'validation_error') },
})

export const adminOperationDetail = detail(
  'Administration',
  'retrieveAnyOperation',
  'Get an operation of any account',
  {
    description: who,
    parameters: [operationParameter],
    responses: { 200: ok('AdminOperation', 'The operation.'), ...refusals(...adminCodes, 'operation_not_found') },
  },
)

export const adminCancelDetail = detail('Administration', 'cancelAnyOperation', 'Cancel an operation of any account', {
  description: `Signals running work and answers at once; the operation shows how it ended. A body is ignored. ${who}`,
  parameters: [operationParameter],
  responses: {
    200: ok('Cancelled', '`ok` is false if the operation had already ended.'),
    ...refusals(...adminCodes, 'operation_not_found'),
  },
})

export const adminUsageDetail = detail('Administration', 'retrieveAllUsage', 'Get usage of all accounts', {
  description: `As \`/v1/usage\`, over all accounts or one. ${who}`,
  parameters: parametersOf(adminUsageFields),
  responses: { 200: ok('UsagePage', 'The usage.'), ...refusals(...adminCodes, 'validation_error') },
})
