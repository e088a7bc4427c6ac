/** Declares what a tool takes: described to the client as a JSON schema, and checked here by the same description. */
import { Failure } from '../terminal/terminal.ts'

export interface Input {
  type: 'string' | 'number'
  description: string
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  /** May be left out. */
  optional?: true
}

export type Inputs = Readonly<Record<string, Input>>
export type Arguments = Readonly<Record<string, string | number | undefined>>

/** @throws Failure `invalid_argument` that says which and why */
export function read(given: unknown, inputs: Inputs): Arguments {
  const values = (given ?? {}) as Record<string, unknown>
  if (typeof values !== 'object' || Array.isArray(values)) throw wrong('The arguments are an object.')
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(inputs, name))
  if (unknown !== undefined) throw wrong(`There is no argument '${unknown}'. Known: ${Object.keys(inputs).join(', ')}.`)
  const read = Object.entries(inputs).map(([name, input]) => [name, readOne(name, values[name] ?? undefined, input)])
  return Object.fromEntries(read) as Arguments
}

function readOne(name: string, value: unknown, input: Input): string | number | undefined {
  if (value === undefined && input.optional === true) return undefined
  if (value === undefined) throw wrong(`'${name}' is missing.`)
  if (input.type === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = input
    if (typeof value === 'number' && value >= minimum && value <= maximum) return value
    throw wrong(`'${name}' is a number from ${minimum} to ${maximum}.`)
  }
  if (typeof value !== 'string' || value.trim() === '') throw wrong(`'${name}' is a text that is not empty.`)
  if (input.enum === undefined || input.enum.includes(value)) return value
  throw wrong(`'${name}' is one of ${input.enum.join(', ')}.`)
}

const wrong = (message: string): Failure => new Failure(message, 'invalid_argument')

/** For a tool's own inputs, which `read` has checked. */
export const textIn = (given: Arguments, name: string): string => String(given[name] ?? '')
