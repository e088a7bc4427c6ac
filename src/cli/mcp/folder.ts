/**
 * The one folder in which tools read and write files. A model chooses the file name, perhaps because a web page
 * suggested it, so files outside are not read and existing files are not replaced.
 */
import { lstat, mkdir, realpath } from 'node:fs/promises'
import { homedir } from 'node:os'
import { basename, dirname, join, parse, relative, resolve, sep } from 'node:path'
import { Failure } from '../terminal/terminal.ts'

/** The current folder, unless that is everything: then one of our own in the home folder. */
export function usualFolder(current = process.cwd(), home = homedir()): string {
  return current === parse(current).root || current === home ? join(home, 'Myna') : current
}

export class Folder {
  readonly #root: string

  constructor(path: string) {
    this.#root = resolve(path)
  }

  get path(): string {
    return this.#root
  }

  /** @returns the path of a file that is there @throws Failure `outside_folder`, `cannot_read` */
  async toRead(given: string): Promise<string> {
    const named = this.#named(given)
    const real = await realpath(named).catch(() => null)
    if (real === null) throw new Failure(`There is no file ${named}.`, 'cannot_read')
    await this.#requireInside(real)
    return real
  }

  /** @returns the path of a file that is not there @throws Failure `outside_folder`, `file_exists`, `cannot_write` */
  async toWrite(given: string): Promise<string> {
    const named = this.#named(given)
    await mkdir(this.#root, { recursive: true })
    const parent = await realpath(dirname(named)).catch(() => null)
    if (parent === null) throw new Failure(`There is no folder ${dirname(named)}.`, 'cannot_write')
    await this.#requireInside(join(parent, basename(named)))
    const whole = join(parent, basename(named))
    for (const path of [whole, `${whole}.part`]) {
      if (await isThere(path)) throw new Failure(`${path} exists; choose another name.`, 'file_exists')
    }
    return whole
  }

  #named(given: string): string {
    const named = resolve(this.#root, given)
    if (!isBelow(this.#root, named)) throw this.#outside()
    return named
  }

  async #requireInside(real: string): Promise<void> {
    if (!isBelow(await realpath(this.#root), real)) throw this.#outside()
  }

  #outside(): Failure {
    return new Failure(`Only files in ${this.#root} can be used.`, 'outside_folder')
  }
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`)
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )
