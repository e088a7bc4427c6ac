/** The thread of `integrity.ts`: takes a path, answers with what is damaged, and has nothing else to do. */
import { firstDamage } from './damage.ts'

declare const self: Worker

export interface CheckAnswer {
  damage: string | null
}

self.onmessage = ({ data: path }: MessageEvent<string>) => {
  postMessage({ damage: firstDamage(path) } satisfies CheckAnswer)
}
