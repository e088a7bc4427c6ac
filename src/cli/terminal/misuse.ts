/** A command line that is not understood: what commander says about it, as a sentence that says what would be right. */

const sentences: readonly (readonly [RegExp, string])[] = [
  [/^unknown (command|option) '(.*)'$/s, "There is no $1 '$2'."],
  [/^missing required argument '(.*)'$/s, 'The argument <$1> is missing.'],
  [/^option '(.*)' argument missing$/s, 'The option $1 needs a value.'],
  [/^required option '(.*)' not specified$/s, 'The option $1 is missing.'],
  [/^option '.*?(--[\w-]+).*?' argument '(.*)' is invalid\. (.*)$/s, "$1 cannot be '$2'. $3"],
  [/^command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/s, "<$2> cannot be '$1'. $3"],
  [/^too many arguments.*?\. Expected 0 arguments but got \d+: (.*)\.$/s, 'No argument is expected, but there is: $1.'],
  [
    /^too many arguments.*?\. Expected (\d+ arguments?) but got (\d+: .*)\.$/s,
    'Expected $1, but got $2. Put what has spaces into quotes.',
  ],
]

/** Names from other programs, and what does the same here. */
const known: Readonly<Record<string, string>> = {
  clone: 'voices clone',
  create: 'accounts create',
  install: 'service install',
  logs: 'ps',
  read: 'speak',
  run: 'serve',
  server: 'serve',
  start: 'serve',
  status: 'ps',
  stt: 'transcribe',
  tts: 'speak',
  up: 'serve',
}

/** @param text from commander or a command @param name of the command that refuses, as it is typed */
export function misuse(text: string, name: string): string {
  const [, what = '', guess = ''] = /^(?:error: )?(.*?)(?:\n\((.*)\))?\n*$/s.exec(text) ?? []
  const [pattern, sentence] = sentences.find(([one]) => one.test(what)) ?? [/(?!)/, '']
  const foreign = name === 'myna' ? known[/^unknown command '(.*)'$/.exec(what)?.[1] ?? ''] : undefined
  const meant = foreign === undefined ? guess : `Did you mean: myna ${foreign}?`
  return [what.replace(pattern, sentence), meant, `See: ${name} --help`].filter((part) => part !== '').join(' ')
}
