/** `myna licenses`: the notices of everything that is inside the executable. */
import { Command } from 'commander'

export const licenses = (): Command =>
  new Command('licenses').description('print the licences of everything inside this program').action(async () => {
    const { notices } = await import('../../build/notices.ts')
    await Bun.write(Bun.stdout, await notices())
  })
