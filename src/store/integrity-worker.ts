/** Checks a database in a thread for `storage.ts`: takes a path and answers with what is damaged. */
import { firstDamage } from './damage.ts'

declare const self: Worker

export interface CheckAnswer {
  damage: string | null
}

self.onmessage = ({ data: path }: MessageEvent<string>) => {
  postMessage({ damage: firstDamage(path) } satisfies CheckAnswer)
}
