/** A secret in a file of the data folder, readable only by its owner. */
import { existsSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SecretFile } from '../service/command-line-key.ts'

export function secretFile(dataDir: string, name: string): SecretFile {
  const path = join(dataDir, name)
  return {
    read: async () => (existsSync(path) ? (await readFile(path, 'utf8')).trim() : null),
    // Under another name first: a file that was cut short would hold a secret that no key has.
    async write(secret) {
      const temp = `${path}.${process.pid}`
      await writeFile(temp, `${secret}\n`, { mode: 0o600 })
      await rename(temp, path)
    },
  }
}
