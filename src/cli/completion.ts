/** `myna completion`: what a shell needs to complete commands and options. It is made from the commands themselves. */
import { Argument, Command, type Option } from 'commander'

const shells = ['bash', 'zsh', 'fish'] as const

export const completionCommand = (): Command =>
  new Command('completion')
    .addArgument(new Argument('<shell>', 'which shell').choices(shells))
    .addHelpText(
      'after',
      `
Add a line to the start-up file of the shell:
  bash  eval "$(myna completion bash)"      in ~/.bashrc
  zsh   eval "$(myna completion zsh)"       in ~/.zshrc, after compinit
  fish  myna completion fish | source       in ~/.config/fish/config.fish`,
    )
    .action((shell: (typeof shells)[number], _options, command: Command) => {
      const places = placesOf(rootOf(command))
      process.stdout.write(shell === 'fish' ? fishScript(places) : bashScript(places, shell === 'zsh'))
    })

/** A place in the command line: behind these words, these may follow. */
interface Place {
  /** Names of commands, separated by blanks; '' for the program itself. */
  path: string
  commands: readonly Command[]
  options: readonly Option[]
}

const rootOf = (command: Command): Command => (command.parent === null ? command : rootOf(command.parent))

function placesOf(root: Command): Place[] {
  const everywhere = root.options.filter(({ hidden }) => !hidden)
  const walk = (command: Command, path: string): Place[] => {
    // Hidden commands are for the program itself.
    const commands = command.createHelp().visibleCommands(command)
    const options = [...command.options.filter(({ hidden }) => !hidden), ...(path === '' ? [] : everywhere)]
    const below = commands.filter((one) => one.name() !== 'help')
    return [{ path, commands, options }, ...below.flatMap((one) => walk(one, `${path} ${one.name()}`.trim()))]
  }
  return walk(root, '')
}

const wordsOf = ({ commands, options }: Place): string[] => [
  ...commands.map((command) => command.name()),
  ...options.flatMap(({ long }) => long ?? []),
]

/** Words that belong to no command are files, names and the values of options: they do not change the place. */
function bashScript(places: readonly Place[], isZsh: boolean): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  const cases = places.map((place) => `    '${place.path}') words='${wordsOf(place).join(' ')}' ;;`)
  return `${isZsh ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_myna() {
  local current="\${COMP_WORDS[COMP_CWORD]}" place='' next words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${place:+$place }$word"
    case "$next" in
      ${paths.join('|')}) place="$next" ;;
    esac
  done
  case "$place" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _myna myna
`
}

function fishScript(places: readonly Place[]): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  const lines = places.flatMap(({ path, commands, options }) => {
    const here = `complete -c myna -n "test (__myna_place) = '${path}'"`
    return [
      ...commands.map((command) => `${here} -a ${command.name()} -d ${quoted(command.description())}`),
      ...options.flatMap(({ long, description }) =>
        long === undefined || long === null ? [] : `${here} -l ${long.slice(2)} -d ${quoted(description)}`,
      ),
    ]
  })
  return `function __myna_place
    set -l place ''
    for word in (commandline -opc)[2..-1]
        set -l next (string trim -- "$place $word")
        if contains -- $next ${paths.join(' ')}
            set place $next
        end
    end
    echo "'$place'" | string trim -c "'"
end
${lines.join('\n')}
`
}

const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
