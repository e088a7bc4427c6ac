/**
 * OpenAI's SDK for JavaScript at a realtime server, in both of its clients: over the package `ws` and over the
 * runtime's own WebSocket. It insists on TLS.
 *
 *   node scripts/clients/openai-realtime.mjs https://127.0.0.1:8790/v1 KEY CLIP.wav
 *
 * CLIP.wav is speech of some seconds, 24 kHz, mono, 16 bits. For a certificate that nobody signed, set
 * NODE_EXTRA_CA_CERTS to its file. Prints one line a check; exits 1 at the first that fails.
 */
import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket'
import { OpenAIRealtimeWS } from 'openai/realtime/ws'

const [, , baseURL, apiKey, clip] = process.argv
const client = new OpenAI({ baseURL, apiKey, dangerouslyAllowBrowser: true })
const pcm = readFileSync(clip).subarray(44)
const silence = Buffer.alloc(48_000)

function check(what, ok, shown = '') {
  console.log(ok ? 'ok  ' : 'FAIL', what, shown)
  if (!ok) process.exit(1)
}

/** Talks, and waits for the first transcript. Client events go out once the server has greeted. */
function talk(realtime, input, { commits }) {
  const seen = []
  return new Promise((resolve, reject) => {
    const deadline = setTimeout(() => reject(new Error(`no transcript; came: ${seen.join(' ')}`)), 60_000)
    realtime.on('error', (error) => reject(new Error(`${error.message}; came: ${seen.join(' ')}`)))
    realtime.on('event', (event) => {
      seen.push(event.type)
      if (event.type === 'session.created') {
        realtime.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
        for (let at = 0; at < pcm.length; at += 4800) {
          const audio = pcm.subarray(at, at + 4800).toString('base64')
          realtime.send({ type: 'input_audio_buffer.append', audio })
        }
        if (commits) realtime.send({ type: 'input_audio_buffer.commit' })
        else realtime.send({ type: 'input_audio_buffer.append', audio: silence.toString('base64') })
      }
      if (event.type === 'conversation.item.input_audio_transcription.completed') {
        clearTimeout(deadline)
        realtime.close()
        resolve({ transcript: event.transcript, seen })
      }
    })
  })
}

const transcription = { model: 'gpt-realtime-whisper', language: 'en' }
const detected = { transcription, turn_detection: { type: 'server_vad' } }
const manual = { transcription, turn_detection: null }

for (const [name, open] of [
  ['ws', (options, by) => new OpenAIRealtimeWS(options, by)],
  ['native', (options, by) => new OpenAIRealtimeWebSocket(options, by)],
]) {
  if (name === 'native' && typeof WebSocket === 'undefined') {
    console.log('info', 'this runtime has no WebSocket of its own')
    continue
  }
  for (const [how, input, commits] of [
    ['turns by the server', detected, false],
    ['turns by commits', manual, true],
  ]) {
    const { transcript, seen } = await talk(open({ intent: 'transcription' }, client), input, { commits })
    check(`${name}: ${how}`, transcript !== '', `${seen.length} events: ${transcript.slice(0, 80)}`)
  }
  const secret = await client.realtime.clientSecrets.create({
    expires_after: { anchor: 'created_at', seconds: 60 },
    session: { type: 'transcription', audio: { input: manual } },
  })
  const holder = new OpenAI({ baseURL, apiKey: secret.value, dangerouslyAllowBrowser: true })
  const { transcript } = await talk(open({ model: 'gpt-realtime-2.1' }, holder), manual, { commits: true })
  check(`${name}: a client secret opens a session`, secret.value.startsWith('ek_') && transcript !== '')
}
process.exit(0)
