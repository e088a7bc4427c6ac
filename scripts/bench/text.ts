/** What it costs to turn a thousand characters into the symbols that voices speak, in texts of three lengths. */
import { chunks, usualLimits } from '../../src/phonemes/chunks.ts'
import { English } from '../../src/phonemes/english.ts'
import { loadPronouncer } from '../../src/phonemes/pronouncer.ts'
import { englishUnits } from '../../src/phonemes/units.ts'
import { emptyLexicon } from '../../src/text/lexicon.ts'
import { medianOf, printTable } from './figures.ts'
import { texts } from './texts.ts'

const lengths = [4000, 16_000, 64_000] as const

/** Sentences, or one line without a full stop. */
function textOf(length: number, hasStops: boolean): string {
  const text = texts.join(' ')
  const long = `${hasStops ? text : text.replaceAll(/[.?!]/g, '')} `.repeat(Math.ceil(length / text.length) + 1)
  return long.slice(0, length)
}

/** Processor time of this process, in ms for a thousand characters. */
async function costOf(english: English, text: string): Promise<number> {
  const before = process.cpuUsage()
  for await (const chunk of chunks(englishUnits(text, english, emptyLexicon), usualLimits)) void chunk
  const { user, system } = process.cpuUsage(before)
  return (user + system) / text.length
}

export async function measureText(runs: number): Promise<object> {
  const english = new English(await loadPronouncer(), 'american')
  const records: { length: number; sentencesMs: number; unbrokenMs: number }[] = []
  for (const length of lengths) {
    const median = async (hasStops: boolean) => {
      const costs: number[] = []
      for (let run = 0; run < runs; run++) costs.push(await costOf(english, textOf(length, hasStops)))
      return medianOf(costs)
    }
    records.push({ length, sentencesMs: await median(true), unbrokenMs: await median(false) })
  }
  const rows = records.map(({ length, sentencesMs, unbrokenMs }) => [length, sentencesMs, unbrokenMs])
  const head = ['characters', 'sentences', 'without a full stop']
  printTable('Text to symbols, ms of processor time for a thousand characters', [head, ...rows])
  return records
}
