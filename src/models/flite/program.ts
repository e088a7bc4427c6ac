/**
 * Flite as it is: a command line program compiled to WASI. It keeps state in static memory and ends with `exit`, so
 * each text has an instance of its own. An instance takes about 10 ms to make, a fifth of a short sentence: the next
 * one is made ahead, in idle time.
 */
import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim'
import { readWav } from '../../audio/wav.ts'
import type { FliteVoice } from './voices.ts'

/** What Flite made of a text. */
export interface Spoken {
  pcm: Int16Array
  sampleRateHz: number
  /** The silence that Flite put before and after the speech. */
  leadS: number
  tailS: number
}

interface Instance {
  wasi: WASI
  text: File
  wav: File
  printed: string[]
  exports: { memory: WebAssembly.Memory; _start: () => unknown }
}

const utf8 = new TextEncoder()

export class Flite {
  readonly #module: WebAssembly.Module
  #next: Instance | null = null

  constructor(module: WebAssembly.Module) {
    this.#module = module
  }

  /** Makes the instance that the next text will use. */
  prepare(): void {
    this.#next ??= instantiate(this.#module)
  }

  /**
   * @param text English in ASCII; anything else is skipped by Flite in silence
   * @param stretch 2: twice as long
   * @throws Error when Flite traps or says that it failed
   */
  speak(text: string, voice: FliteVoice, stretch: number): Spoken {
    this.prepare()
    const { wasi, text: input, wav, printed, exports } = this.#next!
    this.#next = null
    input.data = utf8.encode(text)
    // By file, so that a text which looks like an option is spoken; -psdur prints where the speech begins and ends.
    wasi.args = ['flite', '-voice', voice.name, '-psdur', '-f', 'in.txt', '-o', 'out.wav']
    for (const [name, value] of Object.entries({ duration_stretch: stretch * voice.formants, ...voice.features })) {
      wasi.args.splice(1, 0, '--setf', `${name}=${value}`)
    }
    const code = wasi.start({ exports })
    if (code !== 0) throw new Error(`flite ended with code ${code}: ${printed.join('').slice(-200)}`)
    const { pcm, sampleRateHz } = readWav(wav.data)
    return { pcm, sampleRateHz, ...readPauses(printed.join('')) }
  }
}

function instantiate(module: WebAssembly.Module): Instance {
  const text = new File([])
  const wav = new File([])
  const printed: string[] = []
  const latin = new TextDecoder('latin1')
  const print = () => new ConsoleStdout((bytes) => printed.push(latin.decode(bytes)))
  const files = new PreopenDirectory('.', new Map(Object.entries({ 'in.txt': text, 'out.wav': wav })))
  const wasi = new WASI([], [], [new OpenFile(new File([])), print(), print(), files], { debug: false })
  const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport })
  return { wasi, text, wav, printed, exports: instance.exports as unknown as Instance['exports'] }
}

/**
 * One line per utterance, `pau:0.142 d:0.239 ... pau:1.071`: each segment with its end in seconds, counted from the
 * utterance's start. Between utterances Flite's own pauses stay.
 */
function readPauses(printed: string): { leadS: number; tailS: number } {
  const lines = printed.split('\n').filter((line) => line.includes(':'))
  const first = segments(lines[0] ?? '')
  const last = segments(lines.at(-1) ?? '')
  const lead = first[0]
  const tail = last.at(-1)
  return {
    leadS: lead?.phone === 'pau' ? lead.endS : 0,
    tailS: tail?.phone === 'pau' ? tail.endS - (last.at(-2)?.endS ?? 0) : 0,
  }
}

const segments = (line: string): { phone: string; endS: number }[] =>
  [...line.matchAll(/([a-z]+):([\d.]+)/g)].map(([, phone, endS]) => ({ phone: phone!, endS: Number(endS) }))
