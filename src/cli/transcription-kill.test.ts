/**
 * A server that is killed while it transcribes: what the next one reports about it. Real processes, and a model of
 * noise.
 */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { sound } from '../audio/clip.ts'
import type { EngineStatus } from '../service/ports/engines.ts'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { withCards } from '../testing/models-child.ts'
import { isDead } from '../testing/process.ts'
import { type Program, startProgram } from '../testing/program.ts'
import { parakeetCard, parakeetFolder, smallCards } from '../testing/small-models.ts'
import { clipRateHz, speech, words } from '../testing/speech-clips.ts'
import { until } from '../testing/until.ts'

const dataDir = join(temporaryFolder(), 'data')
const command = withCards(smallCards)

function inBooks(sql: string): unknown[] {
  const books = new Database(join(dataDir, 'myna.db'), { readonly: true })
  try {
    return books.query(sql).all()
  } finally {
    books.close()
  }
}

async function enginePid(): Promise<number> {
  const answer = await fetch('http://localhost/status', {
    unix: join(dataDir, 'myna.sock'),
    method: 'POST',
    body: '{}',
  })
  const { result } = (await answer.json()) as { result: { engines: EngineStatus[] } }
  const pid = result.engines.find(({ task }) => task === 'automatic-speech-recognition')?.pid
  if (pid == null) throw new Error('nobody listens')
  return pid
}

async function reportOf(program: Program, key: string): Promise<unknown> {
  const page = (await (await program.fetch('/v1/usage', key)).json()) as { totals: { transcription: object } }
  return page.totals.transcription
}

test('a transcription that kill -9 ends is in the database as failed before the next server listens', async () => {
  const env = { MYNA_DATA: dataDir }
  const folder = await parakeetFolder()
  const imported = await runCommand(['models', 'import', parakeetCard.id, folder], { program: command, env })
  expect(imported.code).toBe(0)
  const first = await startProgram(dataDir, {}, [], command)
  const wav = sound.wav(await speech(words), clipRateHz) as Uint8Array<ArrayBuffer>
  const transcribe = () => {
    const body = new FormData()
    body.append('file', new File([wav], 'talk.wav'))
    return first.fetch('/v1/audio/transcriptions', first.key, { method: 'POST', body })
  }
  expect((await transcribe()).status).toBe(200)
  const before = await reportOf(first, first.key)
  expect(before).toMatchObject({ requests: 1 })
  // A stopped engine holds the next transcription in the middle.
  const pid = await enginePid()
  process.kill(pid, 'SIGSTOP')
  const broken = transcribe().then(
    () => 'answered',
    () => 'broken',
  )
  const underWay = 'SELECT model FROM transcriptions'
  await until('it is running', () => inBooks(underWay).length === 1, 20_000)
  expect(await reportOf(first, first.key)).toEqual(before)
  first.kill('SIGKILL')
  await first.exited
  expect(await broken).toBe('broken')
  expect(inBooks(underWay)).toEqual([{ model: parakeetCard.id }])

  const second = await startProgram(dataDir, {}, [], command)
  expect(inBooks(underWay)).toEqual([])
  expect(inBooks('SELECT outcome, error_code, audio_ms > 0 AS heard FROM usage ORDER BY id')).toEqual([
    { outcome: 'completed', error_code: null, heard: 1 },
    { outcome: 'failed', error_code: 'server_stopped', heard: 0 },
  ])
  expect(second.stderr()).toContain('transcriptions=1')
  expect(await reportOf(second, first.key)).toEqual(before)
  await until('the engine is gone', () => isDead(pid))
  await second.end()
}, 120_000)
