/**
 * The audio file of a book: takes samples and encodes them as one stream, so that pieces join without a gap. MP3 and
 * M4B get chapter marks. As with any speech, the file gets its final name only when it is complete.
 */
import { EncoderPool } from '../../audio/encode/pool.ts'
import { wavHeader } from '../../audio/wav.ts'
import { id3Tag } from '../../book/id3.ts'
import type { Marks } from '../../book/marks.ts'
import { type AudioFormat, defaultSampleRateHz } from '../../domain/speech.ts'
import { Failure } from '../terminal/terminal.ts'
import { M4bFile } from './m4b.ts'
import { fileOutput, pipeOutput } from './output.ts'

export type BookFormat = AudioFormat | 'm4b'

export interface AudioFile {
  write(pcm: Int16Array): Promise<void>
  /** Completes the file. @param marks with the chapters of `openAudioFile`, and their times */
  finish(marks: Marks): Promise<void>
  /** Stops writing; the bytes so far stay as `FILE.part`. */
  close(): Promise<void>
}

/**
 * @param path `-` is standard output; a pipe gets no chapter marks
 * @param marks titles alone; the times come at the end
 * @throws Failure when it cannot be written
 */
export async function openAudioFile(path: string, format: BookFormat, marks: Marks): Promise<AudioFile> {
  const pool = new EncoderPool({ workers: 1 })
  // Before the file, so that none is left where a format cannot be had.
  const encoder = await pool.open(format === 'm4b' ? 'aac' : format, defaultSampleRateHz)
  const output = path === '-' ? pipeOutput() : await fileOutput(path)
  const closed = async () => {
    pool.close()
    await output.close()
  }
  if (format === 'm4b') {
    if (output.isPipe) {
      await closed()
      throw new Failure('M4B needs a file: name one with -o FILE.m4b.', 'cannot_write')
    }
    const file = await M4bFile.open(output, marks)
    return {
      write: async (pcm) => file.add(await encoder.encode(pcm)),
      async finish(timed) {
        await file.add(await encoder.finish())
        await file.finish(timed)
        pool.close()
        await output.finish()
      },
      close: closed,
    }
  }
  const tags = format === 'mp3' && !output.isPipe ? id3Tag : null
  const head = tags?.(marks) ?? new Uint8Array(0)
  let at = 0
  const append = async (bytes: Uint8Array) => {
    await output.write(bytes, at)
    at += bytes.length
  }
  await append(head)
  return {
    write: async (pcm) => append(await encoder.encode(pcm)),
    async finish(timed) {
      await append(await encoder.finish())
      if (tags !== null) await output.write(tags(timed), 0)
      // Its length was unknown until now.
      if (format === 'wav' && !output.isPipe) await output.write(wavHeader(defaultSampleRateHz, at - wavBytes), 0)
      pool.close()
      await output.finish()
    },
    close: closed,
  }
}

const wavBytes = 44
