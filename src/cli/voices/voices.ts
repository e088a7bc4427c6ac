/** `myna voices`: own and public voices through the API of a running server; a new one from a recording. */
import { basename, extname } from 'node:path'
import { Command } from 'commander'
import { systemClock } from '../../domain/time.ts'
import type { ApiClient } from '../client/client.ts'
import { bytes, day, dollars, duration, time } from '../terminal/format.ts'
import { globalsOf } from '../globals.ts'
import { onInterrupt } from '../terminal/interrupt.ts'
import { progressLine } from '../terminal/progress.ts'
import { recordingIn } from '../client/upload.ts'
import { fileSink, stdoutSink } from '../client/sink.ts'
import { table } from '../terminal/table.ts'
import { bold, Failure, note, report } from '../terminal/terminal.ts'
import { clientOf, type ServerOptions, throughServer } from '../client/through-server.ts'
import { mixCommand } from './mix.ts'
import { asking, onVoice } from './named.ts'
import { remakeCommand } from './remake.ts'
import { clone, everyVoice, readVoice, type VoiceRecord } from './clone.ts'

interface CloneOptions extends ServerOptions {
  name: string
  language?: string
  consent?: string
  alias?: string[]
}

export function voicesCommand(): Command {
  return new Command('voices')
    .addHelpText(
      'after',
      `
A good clip is one person who speaks 10 to 20 seconds at an even pace, close to the
microphone, without music or echo. Clone only voices whose owners agree.

Examples:
  myna voices clone anna.wav --name Anna --consent "Anna agreed on 3 May."
  myna voices list
  myna voices show lark --plot lark.png
  myna voices preview lark -o lark.wav
  myna voices mix "af_heart(2)+af_sky"`,
    )
    .addCommand(listCommand())
    .addCommand(cloneCommand())
    .addCommand(showCommand())
    .addCommand(previewCommand())
    .addCommand(mixCommand())
    .addCommand(renameCommand())
    .addCommand(publicCommand('publish', true, 'let every account use one of your voices; for administrators'))
    .addCommand(publicCommand('unpublish', false, 'keep one of your public voices to yourself again'))
    .addCommand(remakeCommand())
    .addCommand(removeCommand())
}

/** Records are printed as the API has them: the names of labels are their owner's, and none of ours to translate. */
function tell(json: boolean, record: object, text: () => string): void {
  process.stdout.write(`${json ? JSON.stringify(record, null, 2) : text()}\n`)
}

const listCommand = (): Command =>
  throughServer(new Command('list').alias('ls').description('list your own and public voices')).action(
    async (options: ServerOptions, command: Command) => {
      const { json, config } = globalsOf(command)
      const voices = await asking(everyVoice(await clientOf(options, config)))
      tell(json, voices, () => voiceTable(voices))
    },
  )

const cloneCommand = (): Command =>
  throughServer(new Command('clone'))
    .description('make a voice from a recording of a person')
    .argument('<file>', 'the recording: wav, mp3, flac, ogg, m4a or webm')
    .requiredOption('--name <name>', 'name of the voice')
    .option('--language <code>', 'spoken language: en, de, pt-BR ...')
    .option('--consent <text>', 'who agreed that this voice is cloned; stored with it')
    .option('--alias <name>', 'another name for the voice in your requests (nova); may be repeated', collect)
    .addHelpText(
      'after',
      `
Waits until the voice is ready. Ctrl-C stops the work; then nothing is charged.`,
    )
    .action(cloneFile)

const collect = (name: string, names: string[] = []): string[] => [...names, name]

async function cloneFile(file: string, options: CloneOptions, command: Command): Promise<void> {
  const { json, config } = globalsOf(command)
  const form = new FormData()
  form.append('name', options.name)
  if (options.language !== undefined) form.append('language', options.language)
  if (options.consent !== undefined) form.append('consent', options.consent)
  for (const alias of options.alias ?? []) form.append('aliases[]', alias)
  form.append('file', await recordingIn(file, 'clip_undecodable'), basename(file))
  const line = progressLine()
  const client = await clientOf(options, config)
  const { voice, chargedMicros } = await clone({
    client,
    form,
    idempotencyKey: crypto.randomUUID(),
    onInterrupt,
    progress: line.show,
    wait: (ms) => Bun.sleep(ms),
    clock: systemClock,
  }).finally(line.clear)
  const isPrepaid = !json && (await client.isPrepaid())
  tell(json, { ...voice, charged_micros: chargedMicros }, () => {
    const costs = isPrepaid && chargedMicros !== null ? ` Charged ${dollars(chargedMicros)}.` : ''
    return [
      `'${voice.name}' is ready: ${voice.voice_id} (${fidelities[voice.fidelity]}).${costs}`,
      speakWith(voice),
    ].join('\n')
  })
}

const showCommand = (): Command =>
  throughServer(new Command('show'))
    .description('show everything about a voice')
    .argument('<voice>', 'id, alias or name, as shown by myna voices list')
    .option('--plot <file>', 'also draw its waveform and spectrogram into a .png or .webp file')
    .option('--dark', 'draw it for a dark page')
    .action(async (given: string, options: ServerOptions & { plot?: string; dark?: boolean }, command: Command) => {
      const { json, config } = globalsOf(command)
      const client = await clientOf(options, config)
      const { plot, dark } = options
      const picture = plot === undefined ? '' : pictureOf(plot, command)
      const voice = await asking(onVoice(client, given, (id) => readVoice(client, id)))
      const theme = dark === true ? 'dark' : 'light'
      const path = `/voices/${encodeURIComponent(voice.voice_id)}/preview${picture}?theme=${theme}`
      if (plot !== undefined) await asking(save(client, path, plot))
      tell(json, voice, () => voiceText(voice))
      if (plot !== undefined && !json) note(`Picture: ${plot}`)
    })

function pictureOf(file: string, command: Command): string {
  const extension = extname(file).toLowerCase()
  if (extension === '.png' || extension === '.webp') return extension
  return command.error(`A picture is a .png or .webp file, not '${file}'.`)
}

const previewCommand = (): Command =>
  throughServer(new Command('preview'))
    .description('save a sample of a voice')
    .argument('<voice>', 'id, alias or name, as shown by myna voices list')
    .option('-o, --output <file>', '.wav, .mp3 or .opus; - is standard output, as wav (default: <id>.wav)')
    .action(async (given: string, options: ServerOptions & { output?: string }, command: Command) => {
      const { json, config } = globalsOf(command)
      const file = options.output ?? `${given}.wav`
      const format = previewFormats[file === '-' ? '.wav' : extname(file).toLowerCase()]
      if (format === undefined) command.error(`A preview is a .wav, .mp3 or .opus file, not '${file}'.`)
      const client = await clientOf(options, config)
      const path = (id: string) => `/voices/${encodeURIComponent(id)}/preview?response_format=${format}`
      const size = await asking(onVoice(client, given, (id) => save(client, path(id), file)))
      if (file !== '-') report(json, { file, bytes: size }, () => `${file}: ${bytes(size)}`)
    })

const previewFormats: Readonly<Record<string, string>> = {
  '.wav': 'wav',
  '.mp3': 'mp3',
  '.opus': 'opus',
  '.ogg': 'opus',
}

/** @returns how many bytes it was @throws Refusal, Failure */
async function save(client: ApiClient, path: string, file: string): Promise<number> {
  const answer = await client.ask(path)
  const sink = file === '-' ? stdoutSink() : await fileSink(file)
  try {
    for await (const chunk of answer.body ?? []) await sink.write(chunk)
  } catch (error) {
    await sink.leave()
    throw new Failure(`${file} is incomplete: ${(error as Error).message}`, 'connection_broken')
  }
  await sink.keep()
  return sink.bytes
}

const renameCommand = (): Command =>
  throughServer(new Command('rename'))
    .description('rename one of your voices; its id, clip and aliases stay')
    .argument('<voice>', 'id, alias or name, as shown by myna voices list')
    .argument('<new-name>', '1 to 100 characters')
    .action(async (given: string, name: string, options: ServerOptions, command: Command) => {
      const { json, config } = globalsOf(command)
      const client = await clientOf(options, config)
      const voice = await asking(onVoice(client, given, (id) => change(client, id, { name })))
      tell(json, voice, () => `${voice.voice_id} is now called '${voice.name}'.`)
    })

/** @returns the voice as it is then */
async function change(client: ApiClient, id: string, fields: object): Promise<VoiceRecord> {
  const answer = await client.ask(`/voices/${encodeURIComponent(id)}`, 'PATCH', fields)
  return (await answer.json()) as VoiceRecord
}

const publicCommand = (verb: string, isPublic: boolean, description: string): Command =>
  throughServer(new Command(verb))
    .description(description)
    .argument('<voice>', 'id, alias or name, as shown by myna voices list')
    .action(async (given: string, options: ServerOptions, command: Command) => {
      const { json, config } = globalsOf(command)
      const client = await clientOf(options, config)
      const voice = await asking(onVoice(client, given, (id) => change(client, id, { public: isPublic })))
      tell(json, voice, () => `'${voice.name}' is ${voice.is_public ? 'public: every account can use it' : 'private'}.`)
    })

const removeCommand = (): Command =>
  throughServer(new Command('rm'))
    .description('delete one of your voices and its recording, permanently')
    .argument('<voice>', 'id, alias or name, as shown by myna voices list')
    .action(async (given: string, options: ServerOptions, command: Command) => {
      const { json, config } = globalsOf(command)
      const client = await clientOf(options, config)
      const remove = async (id: string) => {
        await client.ask(`/voices/${encodeURIComponent(id)}`, 'DELETE')
        return id
      }
      const id = await asking(onVoice(client, given, remove))
      report(json, { voiceId: id, removed: true }, () => `Removed ${id}.`)
    })

const fidelities: Readonly<Record<VoiceRecord['fidelity'], string>> = {
  native: 'preset',
  full: 'a full clone',
  approximate: 'an approximate clone: a built-in voice adjusted to resemble the clip',
}

const speakWith = (voice: VoiceRecord): string => `Speak with it: myna speak "Hello." --voice ${voice.voice_id}`

/** A server of an older version does not say whether a voice can be used. */
const remedy = ({ voice_id: id, is_owner: isOwner, model }: VoiceRecord): string =>
  isOwner
    ? `Its model '${model}' is not here. Make it again from its clip: myna voices remake ${id}`
    : `It cannot be spoken with: its model '${model}' is not here.`

const whose = (voice: VoiceRecord): string =>
  [voice.is_owner ? 'own' : null, voice.is_public ? 'public' : null].filter((word) => word !== null).join(', ')

function voiceTable(voices: readonly VoiceRecord[]): string {
  if (voices.length === 0) return 'There are no voices yet. Make one: myna voices clone FILE --name NAME'
  const columns = [
    { title: 'ID' },
    { title: 'NAME', least: 8 },
    { title: 'STATUS', leaves: 5 },
    { title: 'WHOSE', leaves: 4 },
    { title: 'LANGUAGE', leaves: 3 },
    { title: 'MODEL', leaves: 2 },
    { title: 'CREATED', leaves: 1 },
    { title: 'DESCRIPTION', least: 26 },
  ]
  const rows = voices.map((voice) => [
    voice.voice_id,
    voice.name,
    voice.status === 'ready' && voice.usable === false ? 'unusable' : voice.status,
    whose(voice),
    voice.language ?? '-',
    voice.model,
    day(1000 * voice.created_at),
    voice.description ?? '',
  ])
  return table(columns, rows)
}

function voiceText(voice: VoiceRecord): string {
  const labels = Object.entries(voice.labels).map(([name, value]) => `${name}: ${value}`)
  const facts: [string, string | null][] = [
    ['Id', voice.voice_id],
    ['Status', voice.status],
    ['', voice.error === null ? null : `${voice.error.message} [${voice.error.code}]`],
    ['Whose', whose(voice)],
    ['Model', `${voice.model}, ${fidelities[voice.fidelity]}`],
    ['Language', voice.language],
    ['Labels', labels.join(', ')],
    ['Aliases', (voice.aliases ?? []).join(', ')],
    ...voice.samples.map((sample): [string, string] => ['Clip', clipText(sample)]),
    ['Created', time(1000 * voice.created_at)],
    ['Preview', voice.preview_url],
  ]
  const lines = facts.filter(([, value]) => value !== null && value !== '')
  return [
    bold(voice.name),
    ...(voice.description === null ? [] : [voice.description]),
    '',
    ...lines.map(([name, value]) => `${name.padEnd(10)}${value}`),
    ...(voice.status === 'ready' ? ['', voice.usable === false ? remedy(voice) : speakWith(voice)] : []),
  ].join('\n')
}

const clipText = (sample: VoiceRecord['samples'][number]): string =>
  `${sample.file_name}, ${duration(1000 * sample.duration_secs)}, ${bytes(sample.size_bytes)}`
