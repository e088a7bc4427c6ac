/** `myna voices mix`: how several voices sound as one, and how that voice is asked for. */
import { Command, Option } from 'commander'
import { mixtureId, parseMixture } from '../../domain/mixture.ts'
import { globalsOf } from '../globals.ts'
import { speakInto, tellSpoken } from '../client/spoken-file.ts'
import { clientOf, type ServerOptions, throughServer } from '../client/through-server.ts'

const sample = 'This is how we sound when our voices are mixed. Do you like it?'

interface MixOptions extends ServerOptions {
  output: string
  text: string
}

export const mixCommand = (): Command =>
  throughServer(new Command('mix'))
    .description('hear several voices mixed into one')
    .argument('<mixture>', 'voices joined with +, weights in brackets: "af_heart(2)+af_sky"')
    .addOption(
      new Option('-o, --output <file>', 'output file, wav; - is standard output').default('mix.wav', 'mix.wav'),
    )
    .option('--text <text>', 'the text to speak', sample)
    .addHelpText(
      'after',
      `
Two to eight preset voices of one model that can mix (Kokoro). A mixture is not stored:
request it like any other voice, by what this command prints. The sample costs what any
speech costs.

Example:
  myna voices mix "af_heart(2)+am_adam" -o blend.wav
  myna speak "Good morning." --voice "af_heart(2)+am_adam"`,
    )
    .action(mix)

async function mix(given: string, options: MixOptions, command: Command): Promise<void> {
  const { json, config } = globalsOf(command)
  const mixture = parseMixture(given)
  if (mixture === null) command.error(`'${given}' is not a mixture: join two or more voices with +.`)
  if ('fault' in mixture) command.error(mixture.fault)
  const voice = mixtureId(mixture.parts)
  const file = options.output
  const body = { input: options.text, voice, response_format: 'wav' }
  const operation = await speakInto({ file, body, client: await clientOf(options, config), json })
  const chargedMicros = operation?.charged_micros ?? null
  tellSpoken({ file, json }, { voice, chargedMicros }, `the voice "${voice}"${operation?.costs ?? ''}`)
}
