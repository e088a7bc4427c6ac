/** An address to listen on as people write it: `10300`, `0.0.0.0:10300`, `[::1]:10300`. */
import { Failure } from '../terminal/terminal.ts'

export interface Address {
  host: string
  port: number
}

/** @throws Failure that shows how to write one */
export function addressOf(text: string, defaultHost: string): Address {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]:|([^:]+):)?(\d{1,5})$/.exec(text.trim()) ?? []
  const port = Number(digits ?? Number.NaN)
  if (port <= 65_535) return { host: bracketed ?? plain ?? defaultHost, port }
  throw new Failure(`'${text}' is not an address to listen on. Write it as 10300 or 0.0.0.0:10300`, 'bad_setting')
}
