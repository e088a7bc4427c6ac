/**
 * The files of cloned voices, and recordings of consents, in the database, in pieces, so that every box has them and a
 * back-up of the database is whole. They are written in one transaction and go with their voice.
 */
import type { PreviewFiles, VoiceFile, VoiceFiles } from '../../service/ports.ts'
import type { Recordings } from '../consents.ts'
import type { Sql } from '../database.ts'
import type { PostgresDatabase } from './postgres.ts'
import { stateOf, type Wire } from './wire.ts'

const pieceBytes = 256 * 1024

export class PostgresVoiceFiles implements VoiceFiles {
  readonly #database: PostgresDatabase

  constructor(database: PostgresDatabase) {
    this.#database = database
  }

  /** @throws Error when the voice is gone, MynaError as the database does */
  put(voiceId: string, files: Readonly<Record<VoiceFile, Uint8Array>>): Promise<void> {
    return putFiles(this.#database, voiceId, Object.entries(files))
  }

  read(voiceId: string, file: VoiceFile): Promise<Uint8Array | null> {
    return readFile(this.#database, ofVoices, voiceId, file)
  }

  async remove(voiceId: string): Promise<void> {
    await this.#database.run('DELETE FROM voice_files WHERE voice_id = $voiceId', { voiceId })
  }

  /** None: by the schema, files go with their voice. */
  async removeOrphans(): Promise<number> {
    return 0
  }
}

const madePrefix = 'made/'

/**
 * Files derived from clones are shared, because all boxes derive the same. Presets belong to the models of each box,
 * and so do files derived from them.
 */
export class SharedPreviewFiles implements PreviewFiles {
  readonly #database: PostgresDatabase
  readonly #ofPresets: PreviewFiles
  readonly #isPreset: (voiceId: string) => boolean

  constructor(database: PostgresDatabase, ofPresets: PreviewFiles, isPreset: (voiceId: string) => boolean) {
    this.#database = database
    this.#ofPresets = ofPresets
    this.#isPreset = isPreset
  }

  read(voiceId: string, name: string): Promise<Uint8Array | null> {
    if (this.#isPreset(voiceId)) return this.#ofPresets.read(voiceId, name)
    return readFile(this.#database, ofVoices, voiceId, madePrefix + name)
  }

  async write(voiceId: string, name: string, bytes: Uint8Array): Promise<void> {
    if (this.#isPreset(voiceId)) return this.#ofPresets.write(voiceId, name, bytes)
    try {
      await putFiles(this.#database, voiceId, [[madePrefix + name, bytes]])
    } catch (error) {
      // The voice was deleted meanwhile, so its files are not kept.
      if (stateOf(error) !== '23503') throw error
    }
  }

  async remove(voiceId: string): Promise<void> {
    if (this.#isPreset(voiceId)) return this.#ofPresets.remove(voiceId)
    const made = "DELETE FROM voice_files WHERE voice_id = $voiceId AND name LIKE 'made/%'"
    await this.#database.run(made, { voiceId })
  }

  removeOrphans(known: ReadonlySet<string>): Promise<number> {
    return this.#ofPresets.removeOrphans(new Set([...known].filter(this.#isPreset)))
  }
}

/** Recordings of consents; row and recording are written in one transaction. */
export class PostgresConsentFiles implements Recordings {
  readonly #database: PostgresDatabase

  constructor(database: PostgresDatabase) {
    this.#database = database
  }

  keep<T>(id: string, bytes: Uint8Array, insert: (sql: Sql, again: boolean) => Promise<T>): Promise<T> {
    return this.#database.withBytes(async (wire, sql, again) => {
      const made = await insert(sql, again)
      await putFile(wire, sql, ofConsents, id, 'recording', bytes)
      return made
    })
  }

  read(id: string): Promise<Uint8Array | null> {
    return readFile(this.#database, ofConsents, id, 'recording')
  }

  /** By the schema, recordings go with their consent. */
  async remove(): Promise<void> {}

  async removeOrphans(): Promise<number> {
    return 0
  }
}

/** Where pieces are kept, and whose they are. */
interface Place {
  table: 'voice_files' | 'consent_files'
  owner: 'voice_id' | 'consent_id'
}

const ofVoices: Place = { table: 'voice_files', owner: 'voice_id' }
const ofConsents: Place = { table: 'consent_files', owner: 'consent_id' }

async function putFiles(
  database: PostgresDatabase,
  voiceId: string,
  files: readonly (readonly [string, Uint8Array])[],
): Promise<void> {
  await database.withBytes(async (wire, sql) => {
    for (const [name, bytes] of files) await putFile(wire, sql, ofVoices, voiceId, name, bytes)
  })
}

async function putFile(wire: Wire, sql: Sql, { table, owner }: Place, id: string, name: string, bytes: Uint8Array) {
  await sql.run(`DELETE FROM ${table} WHERE ${owner} = $id AND name = $name`, { id, name })
  for (let piece = 0; piece === 0 || piece * pieceBytes < bytes.length; piece++) {
    const part = bytes.slice(piece * pieceBytes, (piece + 1) * pieceBytes)
    await wire.bytes(`INSERT INTO ${table} (${owner}, name, piece, size_bytes, bytes) VALUES ($1, $2, $3, $4, $5)`, [
      id,
      name,
      BigInt(piece),
      BigInt(bytes.length),
      part,
    ])
  }
}

interface PieceRow {
  size_bytes: number
  bytes: Uint8Array
}

/** Piece by piece. @returns null if the file does not exist, or was removed while it was read */
async function readFile(
  database: PostgresDatabase,
  { table, owner }: Place,
  id: string,
  name: string,
): Promise<Uint8Array | null> {
  const pieceOf = (piece: number) =>
    database.get<PieceRow>(
      `SELECT size_bytes, bytes FROM ${table} WHERE ${owner} = $id AND name = $name AND piece = $piece`,
      { id, name, piece },
    )
  const first = await pieceOf(0)
  if (first === null) return null
  const whole = new Uint8Array(first.size_bytes)
  whole.set(first.bytes)
  for (let piece = 1; piece * pieceBytes < whole.length; piece++) {
    const row = await pieceOf(piece)
    if (row === null || row.size_bytes !== whole.length) return null
    whole.set(row.bytes, piece * pieceBytes)
  }
  return whole
}
