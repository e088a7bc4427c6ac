/** The acts of the simulation for clones and their voices: each performs one and judges the answer. */
import { cancelOperation, inspectOperation } from '../../service/operations.ts'
import type { Operation } from '../../domain/operation.ts'
import type { NewClone } from '../../service/clone.ts'
import { Watched } from './client.ts'
import { type CloneAsk, clonedMicros, type FollowedClone, statusOf } from './clone-model.ts'
import { clipOf } from './cloning.ts'
import { drained } from './files.ts'
import type { Stage } from './stage.ts'
import { learningOf } from './workload.ts'
import type { KnownKey } from './facts.ts'

const enter = (stage: Stage, key: KnownKey) =>
  stage.process.authenticator.authenticate({ kind: 'secret', secret: key.secret }, key.id)

export async function clone(stage: Stage, ask: CloneAsk): Promise<void> {
  const before = stage.cloneBooks.operations
  const answer = new Watched(beginClone(stage, ask))
  await stage.follow(() => {
    const { model } = stage
    const atDoor = stage.door.refusal(ask.key, ask.key.id)
    const verdicts = () =>
      model.draining ? ['server_shutting_down'] : model.clones.verdicts(ask, model.balanceMicros(ask.key.account))
    const due = atDoor === null ? verdicts() : [atDoor]
    stage.note(`asked to clone: ${answer.state === 'error' ? answer.code : 'admitted'}`)
    if (answer.state === 'error') {
      stage.trace.push(`  refused: ${answer.code}`)
      if (!due.includes(answer.code)) stage.fail(`the clone was refused: ${answer.code}; due was ${due.join()}`)
      return
    }
    const row = [...stage.cloneBooks.operations.values()].find(({ id }) => !before.has(id))
    if (row === undefined) {
      if (stage.process.dead) return
      return stage.fail(`the clone was not refused (${answer.code}), and has no record`)
    }
    stage.trace.push(`  admitted: ${row.id}`)
    if (!due.includes('admitted')) stage.fail(`the clone was admitted; due was ${due.join()}`)
    const voice = [...stage.cloneBooks.voices.values()].find((each) => each.operation_id === row.id)
    if (voice === undefined) return stage.fail(`${row.id} has no voice`)
    if (answer.value !== undefined) stage.compare('the voice of the answer', answer.value.voiceId, voice.id)
    if (row.price_micros > 0) stage.note('a clone past the allowance')
    model.clones.admit(row.id, voice.id, ask, learningOf(row.id))
  })
}

async function beginClone(stage: Stage, { key, idempotencyKey, clip }: CloneAsk): Promise<NewClone> {
  const { clones } = stage.process
  const caller = await enter(stage, key)
  const read = async () => ({
    name: 'A voice',
    description: null,
    labels: {},
    language: 'en',
    aliases: [],
    isPublic: false,
    consent: null,
    file: { name: 'clip.wav', bytes: clipOf(clip) },
  })
  return clones.begin(caller, idempotencyKey, read, new AbortController().signal)
}

/** The engine finishes its work on a clip. */
export async function learn(stage: Stage, followed: FollowedClone): Promise<void> {
  stage.process.learners.permit(followed.id)
  await stage.follow(() => stage.model.clones.learn(followed))
}

/**
 * Cancelled while its files are being written: writing takes many turns of the event loop, and this act takes one of
 * them.
 */
export async function cancelWriting(stage: Stage, followed: FollowedClone): Promise<void> {
  const { process } = stage
  process.learners.permit(followed.id)
  await drained()
  process.clones.cancel(followed.id)
  await stage.follow(() => stage.model.clones.cancel(followed))
}

/** Cancels or inspects. */
export async function touchClone(
  stage: Stage,
  kind: 'cancel clone' | 'inspect clone',
  key: KnownKey,
  followed: FollowedClone,
): Promise<void> {
  const { ledger, clones } = stage.process
  const { id } = followed
  const answer = new Watched<boolean | Operation>(
    enter(stage, key).then<boolean | Operation>((caller) =>
      kind === 'cancel clone' ? cancelOperation(caller, id, ledger, clones) : inspectOperation(caller, id, ledger),
    ),
  )
  await stage.follow(() => {
    const refusal = stage.door.refusal(key, key.id) ?? touchRefusal(stage, key, followed)
    stage.note(`${kind}: ${refusal ?? 'answered'}`)
    if (refusal !== null) return stage.compare(kind, answer.code, refusal)
    const outcome = followed.settledMs === null ? null : (followed.ending?.outcome ?? null)
    if (kind === 'cancel clone') {
      stage.compare('cancel', answer.value, outcome === null)
      return stage.model.clones.cancel(followed)
    }
    const { value } = answer
    if (typeof value !== 'object') return stage.fail(`inspect: ${answer.code}`)
    const is = [value.id, value.outcome, value.chargedMicros]
    stage.compare('inspect', JSON.stringify(is), JSON.stringify([id, outcome, clonedMicros(followed)]))
  })
}

function touchRefusal(stage: Stage, key: KnownKey, followed: FollowedClone): string | null {
  const own = followed.ask.key.account === key.account
  if (!own || followed.removed || stage.model.clones.isExpired(followed)) return 'operation_not_found'
  return key.scopes === null || key.scopes.includes('voices') ? null : 'insufficient_scope'
}

/** Deletes a voice: an own voice in any state, or one that does not exist for this account. */
export async function deleteVoice(stage: Stage, key: KnownKey, followed: FollowedClone): Promise<void> {
  const { library } = stage.process
  const { voiceId } = followed
  const answer = new Watched(enter(stage, key).then((caller) => library.remove(caller, voiceId)))
  await stage.follow(() => {
    const status = followed.ask.key.account === key.account ? statusOf(followed) : 'gone'
    const refusal = stage.door.refusal(key, key.id) ?? (status === 'gone' ? 'voice_not_found' : null)
    stage.note(`delete: ${refusal ?? status}`)
    if (refusal !== null) return stage.compare('delete', answer.code, refusal)
    if (stage.process.dead) {
      if (!stage.cloneBooks.voices.has(voiceId)) stage.model.clones.remove(followed)
      return
    }
    if (answer.code === 'storage_full' && stage.disk !== 'free') return
    stage.compare('delete', answer.code, 'value')
    stage.model.clones.remove(followed)
  })
}

/** The sweep as the service runs it by itself: it never reports a failure. */
export async function sweepVoices(stage: Stage): Promise<void> {
  const { clones } = stage.model
  const stale = clones.all.filter((each) => clones.isStale(each))
  const swept = new Watched(stage.process.sweep())
  await stage.follow(() => {
    const surely = stage.disk === 'free' && !stage.process.dead
    for (const followed of stale) {
      if (!surely && stage.cloneBooks.voices.has(followed.voiceId)) continue
      followed.voiceGone = true
      stage.note('a failed voice was swept')
    }
    if (!stage.process.dead) stage.compare('the sweep', swept.state, 'value')
  })
}
