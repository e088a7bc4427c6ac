/** Reports what will be downloaded and checks that the disk has room for it, before anything arrives. */
import { stat } from 'node:fs/promises'
import { reservedDiskBytes } from '../../domain/card.ts'
import type { OnEvent } from './events.ts'
import { distinct } from './existing.ts'
import { ModelError } from '../model-error.ts'
import { canLink, type ModelsFolder } from '../models-folder.ts'
import type { Wanted } from './required.ts'

export interface RoomParts {
  folder: ModelsFolder
  /** Free bytes on the file system of the path. */
  freeBytes(path: string): number
  onEvent: OnEvent
}

/**
 * Reports what will be downloaded and checks that there is room for it.
 * @param missing the part of `wanted` to download; files of unknown size count as nothing
 * @param moreBytes that will be written besides
 * @throws ModelError `disk_full` with the figures
 */
export async function prepare(
  wanted: readonly Wanted[],
  missing: readonly Wanted[],
  { folder, freeBytes, onEvent }: RoomParts,
  moreBytes = 0,
): Promise<void> {
  const held = await Promise.all(missing.map((one) => heldBytes(folder, one)))
  const sum = held.reduce((total, part) => total + part, 0)
  onEvent({
    event: 'planned',
    files: missing.length,
    keptFiles: distinct(wanted).length - missing.length,
    totalBytes: sizeOf(missing),
    heldBytes: sum,
    unknownSizes: missing.filter(({ sizeBytes }) => sizeBytes === null).length,
  })
  const copies = (await canLink(folder.path)) ? 0 : sizeOf(wanted)
  const toWrite = sizeOf(missing) - sum + copies + moreBytes
  const free = freeBytes(folder.path)
  if (free >= toWrite + reservedDiskBytes) return
  throw new ModelError(
    'disk_full',
    `There is not enough disk space: ${megabytes(toWrite)} will be written to ${folder.path}, ` +
      `${megabytes(reservedDiskBytes)} must stay free there, and ${megabytes(free)} are free.`,
  )
}

/** Bytes of a file downloaded earlier. */
async function heldBytes(folder: ModelsFolder, { blob, sizeBytes }: Wanted): Promise<number> {
  const size = (await stat(folder.part(blob)).catch(() => null))?.size ?? 0
  return sizeBytes === null ? 0 : Math.min(size, sizeBytes)
}

const sizeOf = (files: readonly Wanted[]): number => files.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0)

const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000).toLocaleString('en-US')} MB`
