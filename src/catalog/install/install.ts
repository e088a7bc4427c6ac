/**
 * The last step of a pull and of an import: the folder of a model is built beside its place out of whole blobs, and
 * takes its place in one step, so that a model is installed or is not.
 */
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Manifest, manifestName, manifestText } from '../manifest.ts'
import {
  codeOf,
  gonePrefix,
  linkFile,
  makeFolder,
  type ModelsFolder,
  newPrefix,
  syncFolder,
  writeWhole,
} from '../models-folder.ts'
import { cannotWrite } from './partial-file.ts'

/** @throws ModelError `disk_full`, `cannot_write`; nothing is changed then */
export async function install(folder: ModelsFolder, manifest: Manifest): Promise<void> {
  const place = folder.model(manifest.id)
  const built = join(folder.installed, newPrefix + crypto.randomUUID())
  try {
    await makeFolder(built)
    for (const { name, blob } of manifest.files) {
      await makeFolder(dirname(join(built, name)))
      await linkFile(folder.blob(blob), join(built, name))
    }
    await writeWhole(join(built, manifestName), manifestText(manifest))
    const folders = new Set(manifest.files.map(({ name }) => dirname(join(built, name))))
    for (const made of [...folders, built]) await syncFolder(made)
    await putAside(folder, place)
    await rename(built, place)
    await syncFolder(folder.installed)
  } catch (error) {
    await rm(built, { recursive: true, force: true })
    throw codeOf(error) === '' ? error : cannotWrite(place, error)
  }
}

/** In one step, replacing what is there. @returns whether anything was */
export async function putAside(folder: ModelsFolder, place: string): Promise<boolean> {
  const gone = join(folder.installed, gonePrefix + crypto.randomUUID())
  try {
    await rename(place, gone)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  await rm(gone, { recursive: true, force: true })
  return true
}
