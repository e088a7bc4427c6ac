/**
 * Finds which libraries the system's loader would find by name, without asking it: a library that is not loaded cannot
 * crash. Reads its cache, which `ldconfig` writes, then its default folders. Source: ld.so(8); the cache: dl-cache.h
 * of the GNU C library (`glibc-ld.so.cache1.1`).
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The path of a library; null: the loader would not find it. */
export type FindLibrary = (name: string) => string | null

const magic = 'glibc-ld.so.cache1.1'
const oldMagic = 'ld.so-1.7.0'
const headerBytes = 48
const entryBytes = 24
const entriesMax = 200_000
const defaults = ['/lib64', '/usr/lib64', '/lib', '/usr/lib']
/** How the cache marks libraries for this processor: the driver also comes for 32 bits. Source: ldconfig.h. */
const marks: Readonly<Record<string, number>> = { x64: 0x0300, arm64: 0x0a00 }
const multiarch: Readonly<Record<string, string>> = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }

/** @param root of the file system; another one in tests */
export function systemLibraries(root = '/'): FindLibrary {
  const cache = cachedLibraries(join(root, 'etc/ld.so.cache'))
  const triple = multiarch[process.arch]
  const own = triple === undefined ? [] : [`/lib/${triple}`, `/usr/lib/${triple}`]
  const folders = [...own, ...defaults].map((folder) => join(root, folder))
  return (name) => {
    const cached = cache.get(name)?.map((path) => join(root, path)) ?? []
    return [...cached, ...folders.map((folder) => join(folder, name))].find((path) => existsSync(path)) ?? null
  }
}

/** Empty if there is no cache, or it has another form: then only the default folders count. */
function cachedLibraries(path: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const file = existsSync(path) ? readFileSync(path) : Buffer.alloc(0)
  const start = file.toString('latin1', 0, oldMagic.length) === oldMagic ? file.indexOf(magic) : 0
  if (start < 0 || file.toString('latin1', start, start + magic.length) !== magic) return found
  const count = Math.min(entriesMax, file.length < start + headerBytes ? 0 : file.readUInt32LE(start + magic.length))
  const text = (at: number) => file.toString('latin1', start + at, Math.max(start + at, file.indexOf(0, start + at)))
  for (let index = 0; index < count; index++) {
    const at = start + headerBytes + index * entryBytes
    if (at + entryBytes > file.length) break
    if ((file.readUInt32LE(at) & 0xff00) !== marks[process.arch]) continue
    const name = text(file.readUInt32LE(at + 4))
    const places = found.get(name)
    const place = text(file.readUInt32LE(at + 8))
    if (places === undefined) found.set(name, [place])
    else places.push(place)
  }
  return found
}

/** Names in a folder; empty if the folder does not exist or may not be read. */
export function namesBeneath(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
