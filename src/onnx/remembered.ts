/**
 * What a trial of a model's files has shown, kept beside them in `prepared/`. A trial may take three times as long as
 * loading the files, and shows the same as long as they are the same.
 */
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { preparedFolder } from '../domain/card.ts'
import { backEnd } from './back-end.ts'

const fileName = 'tried.json'

interface Kept {
  stamp: string
  found: number
}

/**
 * @param filesDir the model's folder. Another size or time of change of any of its files means another trial, and so
 * does another version of ONNX Runtime
 * @param form what else the trial depends on
 * @param trial null: what it found may be otherwise the next time. That is not kept, and neither are its failures
 * @throws as `trial`
 */
export async function remembered(
  filesDir: string,
  form: string,
  trial: () => Promise<number | null>,
): Promise<number | null> {
  const stamp = await stampOf(filesDir, form)
  const path = join(filesDir, preparedFolder, fileName)
  const kept = await keptIn(path)
  if (kept?.stamp === stamp) return kept.found
  const found = await trial()
  if (found !== null) await keep(path, { stamp, found })
  return found
}

async function stampOf(filesDir: string, form: string): Promise<string> {
  const { version } = await backEnd()
  const entries = await readdir(filesDir, { withFileTypes: true })
  const facts = entries.flatMap((entry) => {
    const stat = entry.isDirectory() ? undefined : statSync(join(filesDir, entry.name), { throwIfNoEntry: false })
    return stat === undefined ? [] : `${entry.name} ${stat.size} ${stat.mtimeMs}`
  })
  return new Bun.CryptoHasher('sha256').update([version, form, ...facts.toSorted()].join('\n')).digest('hex')
}

/** @returns null: there is none, or it is damaged */
async function keptIn(path: string): Promise<Kept | null> {
  try {
    const kept = (await Bun.file(path).json()) as Partial<Kept> | null
    const { stamp, found } = kept ?? {}
    return typeof stamp === 'string' && typeof found === 'number' ? { stamp, found } : null
  } catch {
    return null
  }
}

/** Where nothing can be written, the next load tries again. */
async function keep(path: string, kept: Kept): Promise<void> {
  const temp = `${path}.${randomUUID()}`
  try {
    await mkdir(join(path, '..'), { recursive: true, mode: 0o755 })
    await Bun.write(temp, JSON.stringify(kept))
    await rename(temp, path)
  } catch {
    await rm(temp, { force: true }).catch(() => {})
  }
}
