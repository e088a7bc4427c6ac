/** What `myna doctor` finds out about each model that lies in the data folder. Reads names and sizes, not contents. */
import { InstalledModels } from '../../catalog/installed.ts'
import type { Config } from '../../config.ts'
import type { Card } from '../../domain/card.ts'
import { failed, type Found, ok, warning } from './finding.ts'
import { bytes, counted } from '../terminal/format.ts'
import { modelsFolder } from '../models/local.ts'

/** One for each model that is here, whole or not. */
export async function checkModels(config: Pick<Config, 'dataDir'>, cards: readonly Card[]): Promise<Found[]> {
  const folder = modelsFolder(config)
  const installed = new InstalledModels(folder)
  return (await folder.modelIds()).map((id) => {
    const card = cards.find((known) => known.id === id && !known.builtIn)
    if (card === undefined) {
      return warning(`${id} is no model that this version of Myna knows`, `Remove it: myna models rm ${id}`)
    }
    const trouble = installed.trouble(card)
    return trouble === null ? whole(card, installed) : failed(trouble, `Mend it: myna models pull ${id}`)
  })
}

function whole({ id }: Card, installed: InstalledModels): Found {
  const files = installed.manifest(id)?.files ?? []
  const sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0)
  return ok(`${id}: ${counted(files.length, 'file')}, ${bytes(sizeBytes)}; myna models verify reads them through`)
}
