/**
 * The notices of everything that is inside the executable, gathered from the packages that the bundler really uses.
 * `build/compile.ts` embeds the result; when run from source, `myna licenses` gathers it on the spot.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bundleConfig, root } from './bundle.ts'
import { findNatives } from './native.ts'
import { webConfig } from './web.ts'
import { embeddedFiles, libraryFiles } from './fetch.ts'
import { type Component, allowed, copyrights, data, inside, wheels } from './third-party.ts'

const modules = join(root, 'node_modules')
const thirdParty = join(root, 'build', 'third-party')

export interface BundledPackage {
  name: string
  version: string
  /** From its package.json: an SPDX expression, or empty. */
  license: string
  /** Licence texts and notices, by file name. */
  texts: { file: string; text: string }[]
  inside: readonly Component[]
}

/** The packages of node_modules with at least one file in the bundle, by name. */
export async function bundledPackages(): Promise<BundledPackage[]> {
  const program = await Bun.build({ ...bundleConfig(findNatives(), null), metafile: true })
  const web = await Bun.build({ ...webConfig, metafile: true })
  if (program.metafile === undefined || web.metafile === undefined) {
    throw new Error('the bundler gave no list of its inputs')
  }
  const names = new Set<string>()
  for (const input of Object.keys({ ...program.metafile.inputs, ...web.metafile.inputs })) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1]
    if (name !== undefined) names.add(name)
  }
  return Promise.all([...names].sort().map(readPackage))
}

async function readPackage(name: string): Promise<BundledPackage> {
  const folder = join(modules, name)
  const manifest: unknown = await Bun.file(join(folder, 'package.json')).json()
  const { version, license } = manifest as { version: string; license?: string }
  const files = readdirSync(folder).filter((file) => /licen[cs]e|copying|notice/i.test(file))
  // libvips' package has its notices, one for each library inside, in its README and the versions beside it.
  if (name.startsWith('@img/sharp-libvips')) files.push('README.md', 'versions.json')
  const texts = await Promise.all(
    files.sort().map(async (file) => ({ file, text: (await Bun.file(join(folder, file)).text()).trim() })),
  )
  if (texts.length === 0 && license !== undefined && copyrights[name] !== undefined) {
    texts.push({ file: license, text: `${copyrights[name]}\n\n${await standardText(license)}` })
  }
  return { name, version, license: license ?? '', texts, inside: inside[name] ?? [] }
}

const standardText = async (name: string): Promise<string> =>
  (await Bun.file(join(thirdParty, `${name}.txt`)).text()).trim()

/** The reason why a package may not be in the executable; null if it may. The contents of a package are checked too. */
export function objection(bundled: BundledPackage): string | null {
  if (bundled.texts.length === 0) return `${bundled.name} has no licence text`
  for (const license of [bundled.license, ...bundled.inside.map((component) => component.license)]) {
    const choices = license.replace(/[()]/g, '').split(/ OR /)
    if (!choices.some((choice) => choice.split(/ AND /).every((part) => allowed.has(part)))) {
      return `${bundled.name} is under "${license}"`
    }
  }
  return null
}

/** What is taken from a package of the Python index. */
export interface CarriedPart {
  kind: 'library' | 'model'
  package: string
  version: string
  component: Component
}

/** The libraries and models inside, by package. @throws Error when the terms of one are unknown, or forbid it */
export function carriedParts(): CarriedPart[] {
  const found = new Map([...libraryFiles, ...embeddedFiles].map(({ wheel }) => [wheel.package, wheel]))
  return [...found.values()].map(({ package: name, version }) => {
    const component = wheels[name]
    if (component === undefined) throw new Error(`the terms of ${name} are not in build/third-party.ts`)
    if (!allowed.has(component.license)) throw new Error(`${name} is under "${component.license}"`)
    const kind = libraryFiles.some(({ wheel }) => wheel.package === name) ? 'library' : 'model'
    return { kind, package: name, version, component }
  })
}

/** The whole text. */
export async function notices(): Promise<string> {
  const packages = await bundledPackages()
  const parts = [
    'Myna is under the Apache License 2.0. It contains the work of others, listed here with their terms.',
    section('Myna', await Bun.file(join(root, 'LICENSE')).text()),
    section(`Bun ${Bun.version} (the runtime)`, await bunText()),
    ...(await Promise.all(packages.map(async (bundled) => section(title(bundled), await packageText(bundled))))),
    ...(await Promise.all(
      carriedParts().map(async ({ kind, package: name, version, component }) =>
        section(`${component.name} (${kind}, ${name} ${version})`, await componentText(component)),
      ),
    )),
    ...(await Promise.all(data.map(async (part) => section(`${part.name} (data)`, await componentText(part))))),
  ]
  for (const name of ['LGPL-2.1', 'LGPL-3.0']) parts.push(section(name, await standardText(name)))
  const reason = 'Nothing in this program is under the GPL; LGPL-3.0 is written as an addition to its text.'
  parts.push(section('GPL-3.0', `${reason}\n\n${await standardText('GPL-3.0')}`))
  return `${parts.join('\n\n')}\n`
}

const section = (heading: string, text: string): string => `${'='.repeat(80)}\n${heading}\n\n${text.trim()}`

const title = ({ name, version, license }: BundledPackage): string => `${name} ${version} (${license})`

/** Bun's own list of what it links comes with its types. */
async function bunText(): Promise<string> {
  const text = await Bun.file(join(modules, 'bun-types', 'docs', 'project', 'license.mdx')).text()
  const mit = `Copyright (c) Oven and the authors of Bun\n\n${await standardText('MIT')}`
  return `${text.replace(/^---[^]*?---\n/, '').trim()}\n\n${mit}\n\nApache License 2.0: see Myna's own, above.`
}

async function packageText(bundled: BundledPackage): Promise<string> {
  const own = bundled.texts.map(({ text }) => text)
  const carried = await Promise.all(bundled.inside.map(componentText))
  return [...own, ...carried].join(`\n\n${'-'.repeat(80)}\n`)
}

async function componentText({ name, license, source, copyright, note, text }: Component): Promise<string> {
  const head = [`Inside: ${name} (${license})`, source, copyright, ...(note === undefined ? [] : [note])].join('\n')
  if (license.startsWith('LGPL')) return `${head}\nText: at the end.`
  if (license === 'Apache-2.0') {
    const own = text === undefined ? '' : `\n\n${await standardText(text)}`
    return `${head}${own}\n\nApache License 2.0: see Myna's own, above.`
  }
  return `${head}\n\n${await standardText(text ?? license)}`
}
