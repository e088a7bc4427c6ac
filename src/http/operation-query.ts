/** The parameters of a list of operations. */
import { invalidInput } from './invalid.ts'

export const maxOperations = 200
const usualOperations = 50

/** @throws MynaError `validation_error` */
export function operationLimitOf(given: string | null): number {
  const limit = given === null ? usualOperations : Number(given)
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxOperations) return limit
  throw invalidInput(['query', 'limit'], `input should be a whole number from 1 to ${maxOperations}`, 'int_parsing')
}
