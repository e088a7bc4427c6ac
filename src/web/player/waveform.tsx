/** A sound as bars in magma, with the part that was heard lit, and a playhead that can be moved. */
import { useEffect, useRef } from 'preact/hooks'

interface WaveformProps {
  /** From 0 to 255, evenly over the sound; none: not known. */
  peaks: readonly number[]
  seconds: number
  /** Read at every frame while it moves. */
  positionS: () => number
  isMoving: boolean
}

const [barPx, gapPx, floorPx] = [3, 2, 2]

export function Waveform({ peaks, seconds, positionS, isMoving }: WaveformProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const own = canvas.current
    if (own === null) return
    let frame = 0
    const paint = () => {
      draw(own, peaks, seconds > 0 ? positionS() / seconds : 0)
      if (isMoving) frame = requestAnimationFrame(paint)
    }
    paint()
    const sized = new ResizeObserver(() => draw(own, peaks, seconds > 0 ? positionS() / seconds : 0))
    sized.observe(own)
    return () => {
      cancelAnimationFrame(frame)
      sized.disconnect()
    }
  })
  return <canvas ref={canvas} class="wave" aria-hidden="true" />
}

/** @param share of the sound that was heard, 0 to 1 */
function draw(canvas: HTMLCanvasElement, peaks: readonly number[], share: number): void {
  const scale = devicePixelRatio
  const [width, height] = [canvas.clientWidth, canvas.clientHeight]
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale)
    canvas.height = Math.round(height * scale)
  }
  const context = canvas.getContext('2d')
  if (context === null || width === 0) return
  const style = getComputedStyle(canvas)
  const magma = context.createLinearGradient(0, 0, width, 0)
  for (const [at, stop] of [0, 0.38, 0.72, 1].entries())
    magma.addColorStop(stop, style.getPropertyValue(`--magma-${at + 1}`).trim())
  context.setTransform(scale, 0, 0, scale, 0, 0)
  context.clearRect(0, 0, width, height)
  const most = peaks.reduce((max, peak) => Math.max(max, peak), 1)
  const bars = Math.max(1, Math.floor((width + gapPx) / (barPx + gapPx)))
  for (let bar = 0; bar < bars; bar++) {
    const loudest = loudestIn(peaks, bar / bars, (bar + 1) / bars)
    const tall = Math.max(floorPx, (loudest / most) ** 0.9 * (height - 4))
    context.fillStyle = (bar + 0.5) / bars <= share ? magma : style.color
    context.beginPath()
    context.roundRect(bar * (barPx + gapPx), (height - tall) / 2, barPx, tall, barPx / 2)
    context.fill()
  }
  if (share <= 0 || share >= 1) return
  context.fillStyle = style.getPropertyValue('--playhead').trim()
  context.fillRect(share * width - 1, 0, 2, height)
}

function loudestIn(peaks: readonly number[], from: number, to: number): number {
  let loudest = 0
  const end = Math.max(Math.floor(from * peaks.length) + 1, Math.floor(to * peaks.length))
  for (let at = Math.floor(from * peaks.length); at < Math.min(peaks.length, end); at++)
    loudest = Math.max(loudest, peaks[at] ?? 0)
  return loudest
}
