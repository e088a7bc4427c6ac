/** A file dropped anywhere on the page, with a sign that says what becomes of it while it is held over the window. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

interface DropProps {
  /** What happens to the file: `Drop a recording to clone a voice`. */
  says: string
  onFile: (file: File) => void
}

const hasFile = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true

/** Takes the first file. One page at a time has it. */
export function DropAnywhere({ says, onFile }: DropProps) {
  const [isOver, setIsOver] = useState(false)
  const take = useRef(onFile)
  take.current = onFile
  useEffect(() => {
    // Entering a child comes before leaving its parent.
    let depth = 0
    const move = (by: number) => (event: DragEvent) => {
      if (!hasFile(event)) return
      depth = Math.max(0, depth + by)
      setIsOver(depth > 0)
    }
    // Without this the browser opens the file in place of the page.
    const over = (event: DragEvent) => {
      if (hasFile(event)) event.preventDefault()
    }
    const drop = (event: DragEvent) => {
      if (!hasFile(event)) return
      event.preventDefault()
      depth = 0
      setIsOver(false)
      const file = event.dataTransfer?.files[0]
      if (file !== undefined) take.current(file)
    }
    const listeners = { dragenter: move(1), dragleave: move(-1), dragover: over, drop } as const
    for (const [name, listen] of Object.entries(listeners)) addEventListener(name, listen as EventListener)
    return () => {
      for (const [name, listen] of Object.entries(listeners)) removeEventListener(name, listen as EventListener)
    }
  }, [])
  if (!isOver) return null
  return (
    <div class="dropping">
      <p>
        <Icon name="upload" /> {says}
      </p>
    </div>
  )
}
