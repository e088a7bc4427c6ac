/**
 * The files of cloned voices in the database, in pieces, so that every box has them and a back-up of the database is
 * whole. They are written in one transaction and go with their voice.
 */
import type { PreviewFiles, VoiceFile, VoiceFiles } from '../../service/ports.ts'
import type { PostgresDatabase } from './postgres.ts'
import { stateOf } from './wire.ts'

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
    return readFile(this.#database, voiceId, file)
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
    return readFile(this.#database, voiceId, madePrefix + name)
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

async function putFiles(
  database: PostgresDatabase,
  voiceId: string,
  files: readonly (readonly [string, Uint8Array])[],
): Promise<void> {
  await database.withBytes(async (wire, sql) => {
    for (const [name, bytes] of files) {
      await sql.run('DELETE FROM voice_files WHERE voice_id = $voiceId AND name = $name', { voiceId, name })
      for (let piece = 0; piece === 0 || piece * pieceBytes < bytes.length; piece++) {
        const part = bytes.slice(piece * pieceBytes, (piece + 1) * pieceBytes)
        await wire.bytes(
          'INSERT INTO voice_files (voice_id, name, piece, size_bytes, bytes) VALUES ($1, $2, $3, $4, $5)',
          [voiceId, name, BigInt(piece), BigInt(bytes.length), part],
        )
      }
    }
  })
}

interface PieceRow {
  size_bytes: number
  bytes: Uint8Array
}

/** Piece by piece. @returns null if the file does not exist, or was removed while it was read */
async function readFile(database: PostgresDatabase, voiceId: string, name: string): Promise<Uint8Array | null> {
  const pieceOf = (piece: number) =>
    database.get<PieceRow>(
      'SELECT size_bytes, bytes FROM voice_files WHERE voice_id = $voiceId AND name = $name AND piece = $piece',
      { voiceId, name, piece },
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
