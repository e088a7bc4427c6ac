import { expect, test } from 'bun:test'
import type { Caller } from '../domain/account.ts'
import { MynaError } from '../domain/error.ts'
import { openScene, type Scene } from '../testing/service-scene.ts'
import { cancelOperation, inspectOperation } from './operations.ts'

const refusal = async (work: Promise<unknown>) => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof MynaError)) throw new Error(`not refused: ${error}`)
  const { code, message, param, extras } = error
  return { code, message, param, extras }
}

/** A running operation of the caller. */
async function running(scene: Scene, caller: Caller): Promise<string> {
  const begun = await scene.begin(caller)
  scene.engine().permit()
  await scene.settled()
  return begun.value?.operation.id ?? begun.code
}

const withScopes = (caller: Caller, scopes: Caller['key']['scopes']): Caller => ({
  ...caller,
  key: { ...caller.key, scopes },
})

test('foreign, unknown, malformed and expired ids get one and the same refusal, whatever the scopes', async () => {
  const scene = await openScene()
  const { ledger, speech } = scene.process
  const ada = await scene.caller()
  const bob = await scene.caller('bob')
  const id = await running(scene, ada)
  const known = { code: 'operation_not_found', message: 'No such operation.', param: 'operation_id', extras: {} }
  const unknown = 'op_00000000000000000000000000'
  for (const caller of [bob, withScopes(bob, ['usage'])]) {
    for (const asked of [id, unknown, '', 'op_', id.toLowerCase(), `${id}0`, `${id}\n`, "op_' OR '1'='1"]) {
      expect(await refusal(inspectOperation(caller, asked, ledger))).toEqual(known as never)
      expect(await refusal(cancelOperation(caller, asked, ledger, speech))).toEqual(known as never)
    }
  }
  expect((await inspectOperation(ada, id, ledger)).outcome).toBeNull()
  expect(await cancelOperation(ada, id, ledger, speech)).toBe(true)
  await scene.settled()
  scene.clock.advance(3_600_000)
  expect(await refusal(inspectOperation(ada, id, ledger))).toEqual(known as never)
  expect(await refusal(cancelOperation(ada, id, ledger, speech))).toEqual(known as never)
})

test('an own operation needs the scope of its type, but any key of the account will do', async () => {
  const scene = await openScene()
  const { ledger } = scene.process
  const ada = await scene.caller()
  const id = await running(scene, ada)
  expect(await refusal(inspectOperation(withScopes(ada, ['voices', 'usage']), id, ledger))).toMatchObject({
    code: 'insufficient_scope',
    extras: { required_scope: 'tts' },
  })
  expect((await inspectOperation(withScopes(await scene.caller(), ['tts']), id, ledger)).id).toBe(id)
})

test('cancel ends a running operation, even when sent twice, and does not change a finished one', async () => {
  const scene = await openScene()
  const { ledger, speech } = scene.process
  const ada = await scene.caller()
  const id = await running(scene, ada)
  const answers = [cancelOperation(ada, id, ledger, speech), cancelOperation(ada, id, ledger, speech)]
  expect(await Promise.all(answers)).toEqual([true, true])
  await scene.settled()
  const settled = await inspectOperation(ada, id, ledger)
  expect(settled).toMatchObject({ outcome: 'cancelled', chargedMicros: 0 })
  expect(await cancelOperation(ada, id, ledger, speech)).toBe(false)
  expect(await inspectOperation(ada, id, ledger)).toEqual(settled)
})
