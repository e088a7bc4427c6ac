/** Reports what `myna doctor` finds out about a PostgreSQL database that several servers share. */
import type { Config } from '../../config.ts'
import { systemClock } from '../../domain/time.ts'
import { nameOf } from '../../store/postgres/postgres.ts'
import { openOwnDatabase } from '../serve/records.ts'
import { counted } from '../terminal/format.ts'
import { failed, type Found, ok, warning, wordsOf } from './finding.ts'

/** Each box also has one connection on which it hears the others. */
const listening = 1
/** PostgreSQL keeps these for its administrator. */
const reserved = 3

interface Facts {
  accounts: number
  boxes: number
  connections: number
  version: string
}

/** Connects as a server would, which brings the schema up to date or says why not. */
export async function checkShared(config: Config): Promise<Found> {
  const name = nameOf(config.database)
  try {
    const database = await openOwnDatabase(config)
    try {
      const beganMs = systemClock.monotonicMs()
      await database.get('SELECT 1 AS one')
      const tripMs = systemClock.monotonicMs() - beganMs
      const facts = await database.get<Facts>(
        `SELECT (SELECT count(*) FROM accounts) AS accounts,
           (SELECT count(*) FROM boxes WHERE lease_until_ms > myna_now_ms()) AS boxes,
           CAST(current_setting('max_connections') AS BIGINT) AS connections,
           current_setting('server_version') AS version`,
      )
      return facts === null ? failed(`${name} does not answer`, remedy) : judged(config, name, facts, tripMs)
    } finally {
      await database.close()
    }
  } catch (error) {
    return failed(wordsOf(error), remedy)
  }
}

const remedy = 'Check MYNA_DATABASE, the network to it, and that the server of the database runs.'

function judged({ databaseConnections }: Config, name: string, facts: Facts, tripMs: number): Found {
  const { accounts, boxes, connections, version } = facts
  const has = `${counted(accounts, 'account')}, ${counted(boxes, 'server')} now, ${tripMs.toFixed(1)} ms away`
  const message = `${name}: PostgreSQL ${version}, ${has}`
  const wanted = Math.max(1, boxes) * (databaseConnections + listening)
  if (wanted <= connections - reserved) return ok(message)
  return warning(
    `${message}; its max_connections is ${connections}, and the servers may open ${wanted}`,
    `Raise max_connections, or lower MYNA_DATABASE_CONNECTIONS (now ${databaseConnections}).`,
  )
}
