/** `myna mcp`: tools for language models, which a program such as a desktop assistant starts and talks to. */
import { Command } from 'commander'
import { type ServerOptions, throughServer } from '../client/through-server.ts'
import { globalsOf } from '../globals.ts'
import { note } from '../terminal/terminal.ts'
import { Folder, usualFolder } from './folder.ts'
import { McpServer } from './protocol.ts'
import { toolsFor } from './tools.ts'

export function mcpCommand(): Command {
  const command = new Command('mcp').option(
    '--folder <dir>',
    'the only folder whose files are used (default: the current one)',
  )
  return throughServer(command)
    .addHelpText(
      'after',
      `
Tools: speak, transcribe, list_voices, clone_voice. Needs a running server.
The program that uses them starts this command. In the home folder and in / the default folder is ~/Myna.

Examples:
  claude mcp add myna -- myna mcp
  {"mcpServers": {"myna": {"command": "myna", "args": ["mcp", "--folder", "/home/ada/recordings"]}}}`,
    )
    .action(async (options: ServerOptions & { folder?: string }, self: Command) => {
      const { config } = globalsOf(self)
      const folder = new Folder(options.folder ?? usualFolder())
      if (process.stdin.isTTY) note('This command is started by a program that uses its tools. Ctrl-D ends it.')
      const tools = toolsFor({ options, config, folder })
      const server = new McpServer(tools, (line) => process.stdout.write(line))
      await server.serve(Bun.stdin.stream() as unknown as AsyncIterable<Uint8Array>)
    })
}
