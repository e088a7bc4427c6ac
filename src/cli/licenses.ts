/** `myna licenses`: the notices of everything that is inside the executable. */
import { Command } from 'commander'
import { notices } from '../embedded/notices.ts'

export const licensesCommand = (): Command =>
  new Command('licenses').action(async () => {
    process.stdout.write(await notices())
  })
