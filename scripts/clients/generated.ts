/**
 * Clients that openapi-generator writes from a server's document: each is compiled, and the one for Python is used.
 *
 *   mvn dependency:get -Dartifact=org.openapitools:openapi-generator-cli:7.16.0 -Dtransitive=false
 *   pip install pydantic python-dateutil urllib3 typing-extensions
 *   bun scripts/clients/generated.ts openapi-generator-cli-7.16.0.jar PYTHON http://127.0.0.1:8790 KEY CLIP.wav
 *
 * PYTHON is the interpreter with these packages. Needs java; go, cargo and mvn compile where they are found, tsc is the
 * repository's. Prints one line a check; exits 1 if one failed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [jar = '', python = 'python3', server = '', key = '', clip = ''] = process.argv.slice(2)
const folder = mkdtempSync(join(tmpdir(), 'myna-generated-'))
const tsc = join(import.meta.dir, '../../node_modules/.bin/tsc')
const forTsc = ['--noEmit', '--strict', '--target', 'es2020', '--module', 'es2020', '--moduleResolution', 'node']

function run(what: string, command: string[], cwd: string): boolean {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd })
  const said = `${stdout}${stderr}`
  console.log(exitCode === 0 ? 'ok  ' : 'FAIL', what, exitCode === 0 ? '' : said.slice(-2000))
  if (exitCode !== 0) process.exitCode = 1
  return exitCode === 0
}

/** By the generator's name: what compiles its client, and more options. */
const compilers: Readonly<Record<string, { command: string[]; options?: string[] }>> = {
  python: { command: [python, '-c', 'import openapi_client'] },
  'typescript-fetch': { command: [tsc, ...forTsc, '--lib', 'es2020,dom,dom.iterable', 'index.ts'] },
  go: { command: ['go', 'build', './...'] },
  rust: { command: ['cargo', 'check'] },
  java: { command: ['mvn', '-q', 'compile'], options: ['--library', 'native'] },
}

const use = `
import sys
import openapi_client as api
server, key, clip = sys.argv[1:]
with api.ApiClient(api.Configuration(host=server, access_token=key)) as client:
    audio, voices = api.AudioApi(client), api.VoicesApi(client)
    assert len(audio.create_speech(api.SpeechRequest(input="Hello there.", model="tts-1"))) > 1000
    plain = audio.create_transcription(file=clip).actual_instance
    full = audio.create_transcription(file=clip, response_format="verbose_json").actual_instance
    assert type(plain).__name__ == "Transcription" and plain.text == full.text and len(full.segments) > 0
    made = voices.create_voice(file=clip, name="Ada")
    assert voices.retrieve_voice(made.voice_id).name == "Ada"
    voices.delete_voice(made.voice_id)
    assert api.ModelsApi(client).list_models().data and api.AccountApi(client).retrieve_account().id
    assert api.AccountApi(client).retrieve_usage().data is not None and api.ServerApi(client).readiness().status
    try:
        audio.create_speech(api.SpeechRequest(input="Hello.", voice=api.SpeechRequestVoice("nobody")))
        assert False
    except api.exceptions.NotFoundException as refusal:
        assert "voice_not_found" in refusal.body
`

try {
  const document = join(folder, 'openapi.json')
  await Bun.write(document, await fetch(`${server}/openapi.json`))
  for (const [name, { command, options = [] }] of Object.entries(compilers)) {
    const out = join(folder, name)
    const generate = ['java', '-jar', jar, 'generate', '-i', document, '-g', name, '-o', out, ...options]
    if (!run(`${name}: generated`, generate, folder)) continue
    if (Bun.which(command[0]!) === null) console.log('skip', name, `no ${command[0]}`)
    else run(`${name}: compiled`, command, out)
  }
  await Bun.write(join(folder, 'python/use.py'), use)
  run('python: used', [python, join(folder, 'python/use.py'), server, key, clip], join(folder, 'python'))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
