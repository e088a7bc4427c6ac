/** Audio by day, drawn. The table beside it says the same to those who cannot see it. */
import { useEffect, useRef } from 'preact/hooks'
import 'uplot/dist/uPlot.min.css'
import type uPlot from 'uplot'
import { announce } from '../parts/announce.tsx'
import { duration } from '../parts/format.ts'
import { onThemeChange } from '../parts/theme.tsx'

export interface Day {
  start: number
  madeSeconds: number
  heardSeconds: number
}

const heightPx = 240

type Library = typeof uPlot

let fetched: Promise<Library> | null = null

/** The page says where it is. */
function fetchLibrary(): Promise<Library> {
  const address = document.getElementById('app')?.dataset.plot ?? ''
  fetched ??= (import(address) as Promise<typeof import('./plot-library.ts')>).then(({ uPlot: found }) => found)
  // Tried again with the next plot.
  fetched.catch(() => (fetched = null))
  return fetched
}

export function UsagePlot({ days }: { days: readonly Day[] }) {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const node = place.current
    if (node === null) return
    let plot: uPlot | null = null
    let library: Library | null = null
    const draw = () => {
      plot?.destroy()
      plot = library === null ? null : new library(optionsFor(node, library), dataOf(days), node)
    }
    let isGone = false
    const begin = (found: Library) => {
      if (isGone) return
      library = found
      draw()
    }
    fetchLibrary().then(begin, () => announce('The plot could not be loaded.'))
    const unfollow = onThemeChange(draw)
    const sized = new ResizeObserver(() => plot?.setSize({ width: node.clientWidth, height: heightPx }))
    sized.observe(node)
    return () => {
      isGone = true
      unfollow()
      sized.disconnect()
      plot?.destroy()
    }
  }, [days])
  return <div ref={place} class="plot" role="img" aria-label={summaryOf(days)} />
}

const dataOf = (days: readonly Day[]): uPlot.AlignedData => [
  days.map(({ start }) => start),
  days.map(({ madeSeconds }) => madeSeconds),
  days.map(({ heardSeconds }) => heardSeconds),
]

function summaryOf(days: readonly Day[]): string {
  const made = days.reduce((sum, day) => sum + day.madeSeconds, 0)
  const heard = days.reduce((sum, day) => sum + day.heardSeconds, 0)
  return `Over ${days.length} days ${duration(made)} of audio generated and ${duration(heard)} transcribed.`
}

function optionsFor(node: HTMLElement, library: Library): uPlot.Options {
  const style = getComputedStyle(node)
  const colour = (name: string) => style.getPropertyValue(name).trim()
  const resolved = (name: string) => resolve(node, colour(name))
  const grid = { stroke: resolved('--line'), width: 1 }
  const axis = { stroke: resolved('--faint'), grid, ticks: { show: false } }
  const bars = library.paths.bars
  const drawn = bars === undefined ? {} : { paths: bars({ size: [0.6, 40] }) }
  return {
    width: node.clientWidth,
    height: heightPx,
    scales: { x: { time: true, range: aroundDays }, seconds: { range: fromZero } },
    legend: { live: false },
    cursor: { show: false },
    tzDate: (unix) => library.tzDate(new Date(unix * 1000), 'Etc/UTC'),
    axes: [
      { ...axis, values: (_plot, ticks) => ticks.map(dayOf) },
      {
        ...axis,
        scale: 'seconds',
        size: 76,
        incrs: steps,
        values: (_plot, ticks) => ticks.map((tick) => duration(tick)),
      },
    ],
    series: [
      {},
      {
        label: 'Audio generated',
        scale: 'seconds',
        fill: resolved('--amber'),
        points: { show: false },
        ...drawn,
      },
      line('Audio transcribed', resolved('--other')),
    ],
  }
}

/** Seconds between two lines: as a clock divides an hour. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400]

const line = (label: string, stroke: string): uPlot.Series => ({
  label,
  scale: 'seconds',
  stroke,
  width: 2,
  points: { show: false },
})

const dayOf = (unix: number): string =>
  new Date(unix * 1000).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })

const halfDayS = 43_200

/** So that the first and last bars are complete. */
const aroundDays = (_plot: uPlot, min: number, max: number): [number, number] => [min - halfDayS, max + halfDayS]

const fromZero = (_plot: uPlot, _min: number, max: number): [number, number] => [0, max > 0 ? max * 1.1 : 1]

/** A canvas knows nothing of `light-dark()`: the browser is asked what it means here. */
function resolve(node: HTMLElement, colour: string): string {
  const probe = document.createElement('span')
  probe.style.color = colour
  node.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
