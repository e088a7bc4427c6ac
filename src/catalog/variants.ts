/**
 * Cards that differ in little: `extends` names the card whose fields are inherited, so that a fact is stated once. A
 * given field replaces the other's; files are inherited by name, and a given one replaces its namesake.
 */
import { CardError } from './check.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * @param files parsed cards by file name @returns the same, each with all its fields
 * @throws CardError naming the file: nothing of that id to extend, or one that extends another itself
 */
export function resolveVariants(files: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const byId = new Map<unknown, Fields>()
  for (const json of Object.values(files)) if (isFields(json)) byId.set(json.id, json)
  const resolved = Object.entries(files).map(([file, json]) => {
    if (!isFields(json) || json.extends === undefined) return [file, json]
    const base = byId.get(json.extends)
    if (base === undefined || base.extends !== undefined) {
      throw new CardError(`${file}: extends: expected a card that extends none, found ${JSON.stringify(json.extends)}`)
    }
    const { extends: _, ...own } = json
    const downloads = own.downloads === undefined ? base.downloads : joined(base.downloads, own.downloads)
    return [file, { ...base, ...own, downloads }]
  })
  return Object.fromEntries(resolved)
}

/** Anything that is not a list of downloads is left for the check to report. */
function joined(base: unknown, own: unknown): unknown {
  if (!Array.isArray(base) || !Array.isArray(own)) return own
  const replaced = new Set(own.filter(isFields).flatMap(filesOf).map(nameOf))
  const kept = base.map((download: unknown) =>
    isFields(download)
      ? { ...download, files: filesOf(download).filter((file) => !replaced.has(nameOf(file))) }
      : download,
  )
  return [...kept, ...own]
}

const filesOf = ({ files }: Fields): Fields[] => (Array.isArray(files) ? files.filter(isFields) : [])

const nameOf = ({ name, path }: Fields): unknown => name ?? path

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
