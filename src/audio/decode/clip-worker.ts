/**
 * Decodes one file and then ends: whatever a hostile file did to a codec's memory goes with the thread. Nothing here
 * may print, because the codecs report every damaged frame.
 */
import { type DecodedFile, decodeFile } from './clip.ts'
import { type Refused, refusedBy } from './refusal.ts'

export interface DecodeCall {
  bytes: Uint8Array<ArrayBuffer>
  maxSeconds: number
}

export type DecodeAnswer = { file: DecodedFile } | Refused

declare const self: Worker

const silent = (): void => {}
Object.assign(console, { log: silent, info: silent, warn: silent, error: silent })

self.onmessage = async ({ data }: MessageEvent<DecodeCall>): Promise<void> => {
  try {
    const file = await decodeFile(data.bytes, data.maxSeconds)
    answer({ file }, [file.pcm.buffer])
  } catch (error) {
    answer(refusedBy(error), [])
  }
}

const answer = (reply: DecodeAnswer, transfer: ArrayBuffer[]): void => self.postMessage(reply, transfer)
