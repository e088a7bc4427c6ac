/** ElevenLabs' SDK asks for the models, the account and what it has left. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { bytesOf, refusal, sdk } from './sdk.fixture.ts'

let instance: Instance
beforeAll(async () => {
  instance = await startInstance()
})
afterAll(() => instance[Symbol.asyncDispose]())

test('models are the installed ones, and the names that mean the best of them', async () => {
  const models = await sdk(instance, await instance.key()).models.list()
  expect(models.map(({ modelId }) => modelId)).toEqual([
    'hibari',
    'eleven_multilingual_v2',
    'eleven_flash_v2_5',
    'eleven_turbo_v2_5',
    'eleven_v3',
  ])
  expect(models[0]).toMatchObject({
    canDoTextToSpeech: true,
    maximumTextLengthPerRequest: 4096,
    languages: [{ languageId: 'en', name: 'English' }],
  })
  await using without = await startInstance({ listModelAliases: false })
  expect(await sdk(without, await without.key()).models.list()).toHaveLength(1)
})

test('a prepaid account has the characters that its balance pays for', async () => {
  const key = await instance.key({ account: 'ada', prepaidMicros: 1500 })
  const client = sdk(instance, key)
  const before = await client.user.subscription.get()
  expect([before.characterCount, before.characterLimit]).toEqual([0, 100])
  await bytesOf(await client.textToSpeech.convert('nova', { text: 'ten letter' }))
  const after = await client.user.get()
  expect(after).toMatchObject({ firstName: 'ada', xiApiKeyPreview: key.slice(0, 12), isNewUser: false })
  expect(after.subscription).toMatchObject({
    characterCount: 10,
    characterLimit: 100,
    status: 'active',
    voiceSlotsUsed: 0,
    voiceLimit: 100,
    canUseInstantVoiceCloning: true,
  })
})

test('an account without a balance, and an administrator, have no limit', async () => {
  const { characterLimit } = await sdk(instance, await instance.key()).user.subscription.get()
  const { voiceLimit } = await sdk(instance, instance.adminKey).user.subscription.get()
  expect([characterLimit, voiceLimit]).toEqual([2_147_483_647, 2_147_483_647])
})

test('the account needs the scope, and any key lists models', async () => {
  const narrow = sdk(instance, await instance.key({ scopes: ['tts'] }))
  expect(await refusal(() => narrow.user.get())).toMatchObject({
    status: 403,
    detail: { status: 'missing_permissions' },
  })
  expect((await narrow.models.list()).length).toBeGreaterThan(0)
})
