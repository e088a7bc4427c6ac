/**
 * The machine-readable list of everything inside the executable (CycloneDX 1.5): the packages that the bundler really
 * uses, the libraries inside them, and the runtime. It is made from the same facts as the notices.
 */
import { version } from '../package.json' with { type: 'json' }
import { bundledPackages, carriedParts } from './notices.ts'

interface Part {
  type: 'library' | 'application' | 'machine-learning-model'
  name: string
  version?: string
  purl?: string
  licenses?: { license: { name: string } }[]
}

const licenses = (name: string): Pick<Part, 'licenses'> => (name === '' ? {} : { licenses: [{ license: { name } }] })

/** @param nowMs when it is made @returns JSON text */
export async function sbom(nowMs: number): Promise<string> {
  const packages = await bundledPackages()
  const parts: Part[] = packages.flatMap(({ name, version: at, license, inside }) => [
    { type: 'library', name, version: at, purl: `pkg:npm/${name.replace('@', '%40')}@${at}`, ...licenses(license) },
    ...inside.map((part): Part => ({ type: 'library', name: part.name, ...licenses(part.license) })),
  ])
  const carried = carriedParts().map(({ kind, package: name, version: at, component }): Part => {
    const type = kind === 'model' ? 'machine-learning-model' : kind
    const own = { name: component.name, version: component.version ?? at }
    return { type, ...own, purl: `pkg:pypi/${name}@${at}`, ...licenses(component.license) }
  })
  const runtime: Part = { type: 'application', name: 'bun', version: Bun.version, ...licenses('MIT') }
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: {
      timestamp: new Date(nowMs).toISOString(),
      component: { type: 'application', name: 'myna', version, ...licenses('Apache-2.0') },
    },
    components: [...parts, ...carried, runtime],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}
