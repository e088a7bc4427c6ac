/**
 * Realtime sessions: the cost of an open one, and how long speakers wait for their text, alone and among many silent
 * sessions. The speech is Myna's own, sent at the pace of real speech.
 */
import { readFileSync } from 'node:fs'
import { printTable, spreadOf } from './figures.ts'
import { startSubject, type Subject } from './subject.ts'
import { texts } from './texts.ts'

const rateHz = 24_000
const blockMs = 100
const blockBytes = (rateHz * 2 * blockMs) / 1000
const pauseBlocks = 10

interface Talk {
  /** From the commit of a turn, and from its last word, to its text. */
  afterCommitMs: number[]
  afterSpeechMs: number[]
  /** Between two deltas of one turn, or between its beginning and the first delta. */
  gapMs: number[]
  failures: number
}

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1000

export async function measureRealtime(
  executable: string,
  { sessions, talkers, turns }: { sessions: number; talkers: number; turns: number },
): Promise<object> {
  const subject = await startSubject(executable, { MYNA_REALTIME_SESSIONS: '100000' })
  try {
    const clips = await Promise.all(texts.slice(2, 6).map((input) => spoken(subject, input)))
    // Does everything that is slow the first time: loading the model, starting the engine.
    await talk(await open(subject), clips, 1)
    const enginePid = await transcriberPid(subject)
    const alone = await talk(await open(subject), clips, turns)
    const before = { server: residentMb(subject.program.pid), engine: residentMb(enginePid) }
    const silent = await Promise.all(Array.from({ length: sessions - talkers }, () => open(subject)))
    const speaking = await Promise.all(Array.from({ length: talkers }, () => open(subject)))
    const opened = { server: residentMb(subject.program.pid), engine: residentMb(enginePid) }
    const together = merged(await Promise.all(speaking.map((socket) => talk(socket, clips, turns))))
    const after = { server: residentMb(subject.program.pid), engine: residentMb(enginePid) }
    for (const socket of silent) socket.close()
    const kbEach = {
      server: ((opened.server - before.server) * 1000) / sessions,
      engine: ((opened.engine - before.engine) * 1000) / sessions,
    }
    const row = (name: string, { afterSpeechMs, afterCommitMs, gapMs, failures }: Talk) => {
      const [speech, commit, gap] = [afterSpeechMs, afterCommitMs, gapMs].map(spreadOf)
      return [name, speech!.median, speech!.p95, commit!.median, commit!.p95, gap!.median, gap!.p95, failures]
    }
    printTable('Realtime: ms from the last word to the text, from the commit, and between deltas', [
      ['', 'speech', 'p95', 'commit', 'p95', 'delta', 'p95', 'failed'],
      row('one alone', alone),
      row(`${talkers} of ${sessions}`, together),
    ])
    printTable('Realtime: memory', [
      ['sessions', 'server MB', 'engine MB', 'server KB each', 'engine KB each', 'server MB after', 'engine MB after'],
      [sessions, opened.server, opened.engine, kbEach.server, kbEach.engine, after.server, after.engine],
    ])
    return { sessions, talkers, alone, together, before, opened, after, kbEach }
  } finally {
    await subject.stop()
  }
}

async function transcriberPid({ program }: Subject): Promise<number> {
  const engines = await program.engines()
  const pid = engines.find(({ task }) => task === 'automatic-speech-recognition')?.pid
  if (pid === undefined || pid === null) throw new Error('the transcription engine does not run')
  return pid
}

async function spoken({ url, key }: Subject, input: string): Promise<Uint8Array> {
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ input, response_format: 'pcm' }),
  })
  if (!response.ok) throw new Error(await response.text())
  return response.bytes()
}

function open({ url, key }: Subject): Promise<WebSocket> {
  const address = `${url.replace('http', 'ws')}/v1/realtime?intent=transcription`
  const socket = new WebSocket(address, { headers: { authorization: `Bearer ${key}` } } as never)
  return new Promise((resolve, reject) => {
    socket.onmessage = () => resolve(socket)
    socket.onclose = ({ code, reason }) => reject(new Error(`${code} ${reason}`))
  })
}

/** Speaks this many turns, one after another, each followed by a second of silence. */
async function talk(socket: WebSocket, clips: readonly Uint8Array[], turns: number): Promise<Talk> {
  const result: Talk = { afterCommitMs: [], afterSpeechMs: [], gapMs: [], failures: 0 }
  let spokenMs = 0
  let committedMs = 0
  let newsMs = 0
  let texts = Promise.withResolvers<void>()
  socket.onmessage = ({ data }) => {
    const { type } = JSON.parse(String(data)) as { type: string }
    const nowMs = performance.now()
    if (type.endsWith('speech_started')) newsMs = nowMs
    if (type.endsWith('.committed')) committedMs = nowMs
    if (type.endsWith('.delta')) {
      if (committedMs < newsMs) result.gapMs.push(nowMs - newsMs)
      newsMs = nowMs
    }
    if (!type.endsWith('.completed') && !type.endsWith('.failed')) return
    if (type.endsWith('.failed')) result.failures++
    result.afterCommitMs.push(nowMs - committedMs)
    result.afterSpeechMs.push(nowMs - spokenMs)
    texts.resolve()
  }
  for (let turn = 0; turn < turns; turn++) {
    texts = Promise.withResolvers()
    const clip = clips[turn % clips.length]!
    const blocks = Math.ceil(clip.length / blockBytes) + pauseBlocks
    for (let block = 0; block < blocks; block++) {
      const bytes = clip.subarray(block * blockBytes, (block + 1) * blockBytes)
      if (bytes.length > 0) spokenMs = performance.now()
      const audio = Buffer.from(bytes.length > 0 ? bytes : new Uint8Array(blockBytes)).toString('base64')
      socket.send(JSON.stringify({ type: 'input_audio_buffer.append', audio }))
      await Bun.sleep(blockMs)
    }
    await texts.promise
  }
  socket.close()
  return result
}

const merged = (talks: readonly Talk[]): Talk => ({
  afterCommitMs: talks.flatMap(({ afterCommitMs }) => afterCommitMs),
  afterSpeechMs: talks.flatMap(({ afterSpeechMs }) => afterSpeechMs),
  gapMs: talks.flatMap(({ gapMs }) => gapMs),
  failures: talks.reduce((sum, { failures }) => sum + failures, 0),
})
