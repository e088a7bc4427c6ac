/** The entry point. */
import { main } from './cli/program.ts'

process.exitCode = await main(process.argv.slice(2))
