/** The routes for administrators in the API's document (docs/api.md 10). */
import { exampleOperationId } from '../error-codes.ts'
import { adminOperationListFields } from '../operations/query.ts'
import { adminUsageFields } from '../usage.ts'
import { detail, ok, pathId } from './parts.ts'

const operation = pathId('operation_id', 'Of any account.', exampleOperationId, 'operation_not_found')

export const adminOperationsDetail = detail('Administration', 'listAllOperations', 'List operations of all accounts', {
  access: 'admin',
  about:
    'Speech requests and clones of every account, newest first, while their records are kept. The next page begins ' +
    'behind the last id of this one: give it as `before`.',
  query: adminOperationListFields,
  answers: { 200: ok('AdminOperationList', 'The operations.') },
})

export const adminOperationDetail = detail(
  'Administration',
  'retrieveAnyOperation',
  'Get an operation of any account',
  { access: 'admin', path: operation, answers: { 200: ok('AdminOperation', 'The operation.') } },
)

export const adminCancelDetail = detail('Administration', 'cancelAnyOperation', 'Cancel an operation of any account', {
  access: 'admin',
  about: 'Signals running work and answers at once; the operation shows how it ended. A body is ignored.',
  path: operation,
  answers: { 200: ok('Cancelled', '`ok` is false if the operation had already ended.') },
})

export const adminUsageDetail = detail('Administration', 'retrieveAllUsage', 'Get usage of all accounts', {
  access: 'admin',
  about: 'As `/v1/usage`, over all accounts or one.',
  query: adminUsageFields,
  answers: { 200: ok('UsagePage', 'The usage.') },
})
