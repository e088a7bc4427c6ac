/**
 * An hour of real readers, joined from the clips with pauses of four lengths: which words are lost that the same model
 * recognises in the single clips, how long the first text takes, and whether the engine's memory stays flat. The cuts
 * between windows fall at other places each time a clip is repeated, so a word that is lost at a border shows here.
 */
import { concatS16, toS16 } from '../../src/audio/pcm.ts'
import { sound } from '../../src/audio/clip.ts'
import { clipRateHz, silence } from '../../src/testing/speech-clips.ts'
import { printTable } from '../bench/figures.ts'
import { type Clip, clipsOf } from './clips.ts'
import { fileOf } from './listeners.ts'
import type { ModelId, Subject } from './subject.ts'
import { lostWords, rateOf, wordErrors, wordsOf } from './words.ts'

const pausesS = [0.3, 0.6, 1, 2]
/** A clip that the model transcribes badly on its own proves nothing about borders. */
const worstAlone = 0.5

export async function measureHour(subject: Subject, shared: string, model: ModelId, seconds: number): Promise<void> {
  const clips = await clipsOf(shared, Number.POSITIVE_INFINITY)
  if (clips.length === 0) return console.log(`\nan hour: left out, no clips and words in ${shared}`)
  const alone = new Map<Clip, string>()
  let aloneCpu = 0
  for (const clip of clips) {
    const { found, cpu } = await subject.hear(model, fileOf(await Bun.file(clip.path).bytes(), 'clip.flac'), 'en')
    alone.set(clip, found.text)
    aloneCpu += cpu
  }
  const joined = await join(clips, seconds)
  const heard = await subject.follow(model, fileOf(sound.wav(joined.pcm, clipRateHz), 'hour.wav'), 'en')
  const lost = lostRuns(joined.clips, alone, heard.text)
  const duration = joined.pcm.length / clipRateHz
  const reference = joined.clips.map((clip) => clip.reference).join(' ')
  const aloneErrors = rateOf(joined.clips.map((clip) => wordErrors(clip.reference, alone.get(clip)!)))
  printTable(`${model}: ${Math.round(duration)} s of real readers in one request`, [
    ['', 'single clips', 'joined'],
    ['word errors, %', aloneErrors, rateOf([wordErrors(reference, heard.text)])],
    [
      'CPU ms a second',
      (1000 * aloneCpu) / clips.reduce((sum, clip) => sum + clip.seconds, 0),
      (1000 * heard.cpu) / duration,
    ],
  ])
  console.log(
    `  first text after ${(heard.firstTextMs / 1000).toFixed(1)} s, all after ${Math.round(heard.allMs / 1000)} s`,
  )
  // One word alone is another wording, such as "tool box" heard as "toolbox".
  const runs = lost.filter(({ length }) => length > 1)
  const counts = `${runs.flat().length} of ${wordsOf(reference).length}, and ${lost.length - runs.length} single ones`
  console.log(`  words in a row that were heard in the single clip and are missing here: ${counts}`)
  for (const run of runs) console.log(`    ${run.join(' ')}`)
  const tenths = heard.memoryBytes.filter((_, at, all) => at % Math.ceil(all.length / 10) === 0)
  console.log(`  memory of the engine, MB, in tenths: ${tenths.map((bytes) => Math.round(bytes / 1e6)).join(' ')}`)
}

/** @param seconds the minimum length */
async function join(clips: readonly Clip[], seconds: number) {
  const pcm = new Map<Clip, Int16Array<ArrayBuffer>>()
  for (const clip of clips) {
    pcm.set(clip, new Int16Array(toS16(new Float32Array(await Bun.file(clip.pcmPath).arrayBuffer()))))
  }
  const parts: Int16Array<ArrayBuffer>[] = []
  const order: Clip[] = []
  for (let samples = 0; samples < seconds * clipRateHz;) {
    // Another step each round, so that neighbours and pauses differ.
    const round = Math.floor(order.length / clips.length)
    const clip = clips[(order.length * (round % 2 === 0 ? 1 : clips.length - 1)) % clips.length]!
    const pause = silence(pausesS[(order.length + round) % pausesS.length]!)
    parts.push(pcm.get(clip)!, pause)
    order.push(clip)
    samples += pcm.get(clip)!.length + pause.length
  }
  return { pcm: concatS16(parts), clips: order }
}

/** Words of the reference that the model recognises in the single clip, but not in the joined sound; in runs. */
function lostRuns(order: readonly Clip[], alone: ReadonlyMap<Clip, string>, heard: string): string[][] {
  const known = new Map([...alone].map(([clip, text]) => [clip, lostWords(wordsOf(clip.reference), wordsOf(text))]))
  const words = order.map((clip) => wordsOf(clip.reference))
  const lost = lostWords(words.flat(), wordsOf(heard))
  const runs: string[][] = []
  let at = 0
  for (const [index, clip] of order.entries()) {
    const ownLoss = known.get(clip)!
    const isPoor = ownLoss.filter(Boolean).length > worstAlone * ownLoss.length
    let run: string[] = []
    for (const [within, word] of words[index]!.entries()) {
      if (lost[at + within] === true && !ownLoss[within] && !isPoor) run.push(word)
      else run = flush(runs, run)
    }
    flush(runs, run)
    at += words[index]!.length
  }
  return runs
}

function flush(runs: string[][], run: string[]): string[] {
  if (run.length > 0) runs.push(run)
  return []
}
