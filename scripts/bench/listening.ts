/** How fast a long clip is cut into windows for recognisers, and that its length costs no memory. */
import { cutSpeech } from '../../src/models/silero/windows.ts'
import { detectorRateHz, loadDetector } from '../../src/models/silero/detector.ts'
import { printTable, spreadOf } from './figures.ts'
import { talk } from './talk.ts'

const maxWindowMs = 20_000
const never = new AbortController().signal

export async function measureListening(hours: number): Promise<object> {
  const detector = await loadDetector()
  const minute = await talk()
  const soundS = hours * 3600
  const memory: number[] = []
  const windowS: number[] = []
  try {
    const beganMs = performance.now()
    for await (const { pcm } of cutSpeech(repeated(minute, soundS), detector, { maxWindowMs }, never)) {
      memory.push(process.memoryUsage.rss() / 1e6)
      if (pcm !== null) windowS.push(pcm.length / detectorRateHz)
    }
    const seconds = (performance.now() - beganMs) / 1000
    const at = (share: number) => memory[Math.floor(share * (memory.length - 1))]!
    const record = {
      hours,
      perSecond: soundS / seconds,
      windowS: spreadOf(windowS),
      megabytes: [at(0.1), at(0.5), at(1)],
    }
    printTable(`Cutting ${hours} h of talk into windows of ${maxWindowMs / 1000} s at most, on one core`, [
      ['s of sound per s', 'windows', 's each', 'p95', 'MB at 10%', '50%', '100%'],
      [record.perSecond, windowS.length, record.windowS.median, record.windowS.p95, ...record.megabytes],
    ])
    return record
  } finally {
    await detector.unload()
  }
}

/** In blocks of a second, as from a decoder. */
async function* repeated(pcm: Float32Array, seconds: number): AsyncGenerator<Float32Array> {
  for (let block = 0, at = 0; block < seconds; block++, at = (at + detectorRateHz) % pcm.length) {
    yield pcm.slice(at, at + detectorRateHz)
  }
}
