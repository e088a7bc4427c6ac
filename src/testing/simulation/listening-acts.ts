/** The acts of the simulation for transcriptions: each performs one and judges the answer. */
import type { Transcribing } from '../../service/transcribing.ts'
import { Listener, requestFor } from './listening.ts'
import type { FollowedListening } from './listening-model.ts'
import type { Stage } from './stage.ts'
import { clipHeardOf } from './workload.ts'
import type { KnownKey } from './facts.ts'

export async function listen(stage: Stage, key: KnownKey): Promise<void> {
  const id = `req_${String(stage.nextRequest++).padStart(26, '0')}`
  const gone = new AbortController()
  const listener = new Listener(begin(stage, id, key, gone.signal), gone)
  stage.listeners.push(listener)
  await stage.follow(() => {
    const { listenings } = stage.model
    const due = stage.door.refusal(key, key.id) ?? listenings.verdict(key)
    stage.note(`asked to listen: ${due}`)
    stage.trace.push(`  ${id}: ${due}`)
    if (due === 'admitted') listener.followed = listenings.admit(id, key, clipHeardOf(id))
    // A write that kills the process is requested only after all refusals.
    else stage.compare('listen', listener.begun.code, due)
  })
}

async function begin(stage: Stage, id: string, key: KnownKey, gone: AbortSignal): Promise<Transcribing> {
  const { authenticator, transcriptions } = stage.process
  const caller = await authenticator.authenticate({ kind: 'secret', secret: key.secret }, key.id)
  return transcriptions.begin(caller, id, async () => requestFor(id), gone)
}

/** The engine may transcribe one more part. */
export async function hear(stage: Stage, listening: FollowedListening): Promise<void> {
  const gate = stage.process.gates.get(listening.id)
  gate?.permit()
  await stage.follow(() => gate && stage.model.listenings.permit(listening))
}

export async function take(stage: Stage, listening: FollowedListening): Promise<void> {
  listenerOf(stage, listening).read()
  await stage.follow(() => stage.model.listenings.take(listening))
}

export async function hangUp(stage: Stage, listening: FollowedListening): Promise<void> {
  listenerOf(stage, listening).leave()
  await stage.follow(() => stage.model.listenings.leave(listening))
}

function listenerOf(stage: Stage, listening: FollowedListening): Listener {
  const listener = stage.listeners.find(({ followed }) => followed === listening)
  if (listener === undefined) throw new Error(`nobody asked for ${listening.id}`)
  return listener
}
