/** `myna accounts limit`: what one account may do at once and in a minute, where that differs from the settings. */
import { Command, InvalidArgumentError } from 'commander'
import { type Account, type LimitName, limitNames, type OwnLimits } from '../domain/account.ts'
import { withAdministration } from './administration.ts'
import { globalsOf, wholeNumber } from './globals.ts'
import { report } from './terminal/terminal.ts'

const words: Readonly<Record<LimitName, { flag: string; what: string }>> = {
  speechConcurrency: { flag: 'parallel-speech', what: 'speech requests at once' },
  transcriptionConcurrency: { flag: 'parallel-transcriptions', what: 'transcriptions at once' },
  speechPerMinute: { flag: 'speech-per-minute', what: 'speech requests a minute' },
  transcriptionsPerMinute: { flag: 'transcriptions-per-minute', what: 'transcriptions a minute' },
  requestsPerMinute: { flag: 'requests-per-minute', what: 'other requests a minute' },
}

export function limitCommand(): Command {
  const command = new Command('limit')
    .description("give an account limits of its own, instead of those of the server's settings, from its next request")
    .argument('<name>', 'the account')
  for (const { flag, what } of Object.values(words)) {
    command.option(`--${flag} <number>`, `${what}, or default`, countOrDefault)
  }
  return command
    .option('--default', "all limits are those of the server's settings again")
    .addHelpText(
      'after',
      `
Limits that are not named stay as they are: myna accounts show NAME shows them.

Examples:
  myna accounts limit ada --parallel-speech 4 --speech-per-minute 60
  myna accounts limit ada --parallel-speech default
  myna accounts limit ada --default`,
    )
    .action(async (name: string, options: Record<string, number | 'default' | boolean>, self: Command) => {
      const { json, config } = globalsOf(self)
      const given = limitNames.flatMap((limit) => {
        const value = options[camelCase(words[limit].flag)]
        return value === undefined ? [] : [[limit, value === 'default' ? null : value] as const]
      })
      if (options.default !== true && given.length === 0) self.error('Name a limit, or give --default.')
      if (options.default === true && given.length > 0) self.error('--default resets all limits: give no others.')
      const limits = options.default === true ? null : (Object.fromEntries(given) as Partial<OwnLimits>)
      const account = await withAdministration(config, false, (verbs) => verbs.setLimits({ name, limits }))
      report(json, account, () => `The account '${account.name}': ${limitsText(account)}.`)
    })
}

/** For people, in one line. */
export function limitsText({ limits }: Account): string {
  const own = limitNames.flatMap((name) => (limits[name] === null ? [] : [`${limits[name]} ${words[name].what}`]))
  return own.length === 0 ? "the limits of the server's settings" : own.join(', ')
}

function countOrDefault(text: string): number | 'default' {
  if (text === 'default') return text
  const count = wholeNumber(text)
  if (count > 0) return count
  throw new InvalidArgumentError('Expected a whole number from 1 on, or the word default.')
}

const camelCase = (flag: string): string => flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
