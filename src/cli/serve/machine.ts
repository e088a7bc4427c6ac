/**
 * Says where a running server is: its addresses, its folder and the disk below. It is for administrators, in the
 * console.
 */
import { statfs } from 'node:fs/promises'
import type { Config } from '../../config.ts'
import type { MachineFacts } from '../../http/console/server.ts'
import { reachableAddresses } from '../../wyoming/zeroconf.ts'
import { addressOf } from './address.ts'

/** @param url the address that it listens on, once it does */
export const machineOf =
  (config: Config, url: () => string): (() => Promise<MachineFacts>) =>
  async () => ({
    url: url(),
    publicUrl: config.publicUrl || null,
    networkUrls: reachableAddresses(config.host).map((address) => withHost(url(), address)),
    wyoming: config.wyoming === '' ? null : addressOf(config.wyoming, '127.0.0.1'),
    dataDir: config.dataDir,
    database: config.database === '' ? 'SQLite' : 'PostgreSQL',
    disk: await statfs(config.dataDir).then(
      ({ bavail, blocks, bsize }) => ({ freeBytes: bavail * bsize, totalBytes: blocks * bsize }),
      () => null,
    ),
  })

function withHost(url: string, host: string): string {
  const changed = new URL(url)
  changed.hostname = host
  return changed.origin
}
