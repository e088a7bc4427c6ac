/** `myna voices remake` against a whole server whose preferred model is removed after it made the voices. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import type { Card } from '../../domain/card.ts'
import { MynaError } from '../../domain/error.ts'
import { runCommand } from '../../testing/command.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const hibari = cards.find(({ id }) => id === 'hibari')!
const removed: Card = { ...hibari, id: 'flite', family: 'flite', preference: 50, voices: [], defaultVoice: null }
let isThere = true
let instance: Instance
let key: string
beforeAll(async () => {
  const catalog = new CardCatalog(
    () => (isThere ? [hibari, removed] : [hibari]),
    () => false,
  )
  instance = await startInstance({ clonesPerMinute: 1000 }, { catalog })
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())

const voices = (...args: string[]) =>
  runCommand(['voices', ...args], { env: { MYNA_URL: instance.url, MYNA_API_KEY: key } })

test('remakes one voice by its name, then all others, and names failures', async () => {
  const ids: string[] = []
  for (const name of ['Ada', 'Bea', 'Cy']) ids.push((await instance.cloned(key, { name })).voice_id)
  isThere = false
  expect((await voices('list')).stdout.match(/unusable/g)).toHaveLength(3)
  expect((await voices('show', 'Ada')).stdout).toContain(`myna voices remake ${ids[0]}`)
  expect(await voices('remake', 'ada')).toMatchObject({ code: 0, stdout: `'Ada' is made again: ${ids[0]}\n` })
  const { learn } = instance.engine
  let clones = 0
  instance.engine.learn = (model, clip) => {
    if (++clones === 1) throw new MynaError('clip_refused', 'No voice in it.')
    return learn(model, clip)
  }
  const some = await voices('remake', '--all')
  expect(some.code).toBe(1)
  expect(some.stderr).toContain('No voice in it.')
  expect(some.stderr).toContain('1 voice could not be made again')
  expect(some.stdout).toMatch(/^'(Bea|Cy)' is made again: voice_\w+\n$/)
  expect((await voices('remake', '--all', '--json')).stdout).toContain('"usable": true')
  expect(await voices('remake', '--all')).toMatchObject({ code: 0, stdout: 'Every voice of yours can be used.\n' })
  expect((await voices('list')).stdout).not.toContain('unusable')
})

test('refuses a voice that needs no remake, and a command without a name', async () => {
  expect((await voices('remake', 'lark')).code).toBe(1)
  expect((await voices('remake')).stderr).toContain('Name one voice, or all of them with --all.')
  expect((await voices('remake', 'lark', '--all')).stderr).toContain('Name one voice, or all of them with --all.')
})
