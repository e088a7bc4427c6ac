import { expect, test } from 'bun:test'
import { FakeEngine } from '../../testing/fake-engine.ts'
import { chooseDevices, type Cuda, describeDevices, parseDevice } from './devices.ts'

const cuda = { dir: '/cuda', libraryPath: '/cuda:/driver', cards: 2 }
const missing = 'the CUDA build is not installed'
const none = { missing, remedy: 'Install it: myna runtime pull cuda' }
const card = (id: number, tf32 = true) => ({ kind: 'cuda', id, dir: '/cuda', tf32 }) as const
const choose = (device: string, found: Cuda = cuda) => chooseDevices(device, true, async () => found)

test.each([
  ['auto', { kind: 'auto' }],
  ['cpu', { kind: 'cpu' }],
  ['cuda', { kind: 'cuda', id: null }],
  ['cuda:0', { kind: 'cuda', id: 0 }],
  ['cuda:12', { kind: 'cuda', id: 12 }],
] as const)('%s', (text, wish) => {
  expect(parseDevice(text)).toEqual(wish)
})

const noDevices = ['', 'gpu', 'cuda:', 'cuda:-1', 'cuda:x', 'cuda0', 'CUDA', 'cuda:1,2', 'cuda:1000']

test.each(noDevices)('%p is not a list of devices', (text) => {
  expect(() => parseDevice(text)).toThrow(`--device ${text}: must be auto, cpu, cuda or cuda:N`)
})

test('all cards are used by default and may be missing; cards requested by name may not', async () => {
  const devices = [card(0), card(1)]
  expect(await choose('auto')).toEqual({ kind: 'cuda', devices, libraryPath: '/cuda:/driver', mayFallBack: true })
  expect(await choose('cuda')).toMatchObject({ devices, mayFallBack: false })
  expect(await choose('cuda:1')).toMatchObject({ devices: [card(1)], mayFallBack: false })
  const exact = await chooseDevices('cuda:1', false, async () => cuda)
  expect(exact).toMatchObject({ devices: [card(1, false)] })
})

test('without CUDA it is the CPU, with the reason', async () => {
  expect(await choose('auto', none)).toEqual({ kind: 'cpu', devices: [{ kind: 'cpu', reason: missing }] })
  const hidden = await choose('auto', { ...cuda, cards: 0 })
  expect(describeDevices(hidden, [])).toEqual(['cpu (the driver reports no card)'])
})

test('CUDA is not examined when the CPU was requested', async () => {
  const devices = await chooseDevices('cpu', true, () => Promise.reject(new Error('looked')))
  expect(devices).toEqual({ kind: 'cpu', devices: [{ kind: 'cpu', reason: null }] })
  expect(describeDevices(devices, [])).toEqual(['cpu'])
})

test.each([
  ['cuda', none, `--device cuda is not available: ${missing}. Install it: myna runtime pull cuda`],
  ['cuda:0', none, `--device cuda:0 is not available: ${missing}`],
  ['cuda:2', cuda, '--device cuda:2 is not available: there is no card 2: the driver reports 2, counted from 0'],
  [
    'cuda',
    { ...cuda, cards: 0 },
    '--device cuda is not available: the driver reports no card. CUDA_VISIBLE_DEVICES may',
  ],
])('%s is refused when it is unavailable', async (device, found, words) => {
  await expect(choose(device, found)).rejects.toMatchObject({
    code: 'no_device',
    message: expect.stringContaining(words),
  })
})

test('each card is shown with its memory use, or with the reason why it is not used', async () => {
  const status = new FakeEngine().status()
  const deviceMemory = { usedBytes: 1_000_000_000, totalBytes: 8_000_000_000 }
  expect(
    describeDevices(await choose('auto'), [
      { ...status, device: 'cuda:0', deviceMemory },
      { ...status, device: 'cpu', deviceReason: 'cuda:1: CUDA failure 2: out of memory' },
    ]),
  ).toEqual(['cuda:0 (8.0 GB, 1.0 GB in use)', 'cpu (cuda:1: CUDA failure 2: out of memory)'])
})
