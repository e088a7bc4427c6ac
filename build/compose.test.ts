/** The compose files, as far as they can be tested without a container engine. */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../src/config.ts'

interface Compose {
  services: Record<
    string,
    {
      build?: { context: string; dockerfile: string }
      ports?: string[]
      environment?: Record<string, string>
      volumes?: string[]
      depends_on?: string[]
    }
  >
  volumes: Record<string, null>
}

const read = (name: string): string => readFileSync(join(import.meta.dir, name), 'utf8')
const { services, volumes } = Bun.YAML.parse(read('compose.yaml')) as Compose
const dockerfile = read('Dockerfile')

test('the service is the image that the Dockerfile makes: its port, its volume, its settings', () => {
  const { myna } = services
  expect(existsSync(join(import.meta.dir, myna!.build!.context, myna!.build!.dockerfile))).toBe(true)
  expect(dockerfile).toMatch(/^VOLUME \/data$/m)
  expect(myna!.volumes).toEqual(['data:/data'])
  expect(dockerfile).toMatch(/^EXPOSE 8790$/m)
  expect(myna!.ports?.[0]).toEndWith(':8790:8790')
  const settings = readFileSync(join(import.meta.dir, '../docs/settings.md'), 'utf8')
  for (const name of Object.keys(myna!.environment!)) expect(settings).toContain(`\`${name}\``)
  // An empty value means the same as none.
  expect(loadConfig({}, { MYNA_PUBLIC_URL: '' }).publicUrl).toBe(loadConfig({}, {}).publicUrl)
})

test('everything named exists: volumes, services, and the same service in the file for graphics cards', () => {
  for (const { volumes: mounted = [], depends_on: needed = [] } of Object.values(services)) {
    for (const mount of mounted) expect(Object.keys(volumes)).toContain(mount.split(':')[0]!)
    for (const name of needed) expect(Object.keys(services)).toContain(name)
  }
  const cuda = Bun.YAML.parse(read('compose.cuda.yaml')) as Compose
  expect(Object.keys(cuda.services)).toEqual(['myna'])
  expect(dockerfile).toContain('ARG BASE=')
})

test('the files that build, try and publish the image exist', () => {
  const workflow = readFileSync(join(import.meta.dir, '../.github/workflows/image.yml'), 'utf8')
  const parsed = Bun.YAML.parse(workflow) as Record<string, Record<string, { steps: { name?: string }[] }>>
  const { steps } = parsed['jobs']!['image']!
  for (const [, file] of workflow.matchAll(/-f (\S+\.yaml)/g)) {
    expect(existsSync(join(import.meta.dir, '..', file!))).toBe(true)
  }
  const at = (name: string) => steps.findIndex((step) => step.name === name)
  expect(at('a sentence')).toBeLessThan(at('publish'))
})
