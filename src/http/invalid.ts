/** The 422 of paths, queries and voice bodies: one field at fault, in our envelope and in FastAPI's list. */
import { MynaError } from '../domain/error.ts'

export type Location = readonly ['path' | 'query' | 'body', string]

/** @param type FastAPI's word for the kind of fault, such as `string_pattern_mismatch` */
export function invalidInput(loc: Location, msg: string, type: string): MynaError {
  const [, field] = loc
  return new MynaError('validation_error', `${field}: ${msg}`, {
    param: field,
    extras: { details: [{ loc, msg, type }] },
  })
}
