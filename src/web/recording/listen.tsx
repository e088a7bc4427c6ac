/** A clip to hear before it is sent, if the browser can play it. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { bytes } from '../parts/format.ts'
import type { Clip } from './recorder.ts'

export function Listen({ clip }: { clip: Clip }) {
  const url = useMemo(() => URL.createObjectURL(clip.file), [clip])
  // Remembered by its address: the browser may refuse a clip before effects of its first view have run.
  const [refused, setRefused] = useState<string | null>(null)
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  const isSilent = refused === url
  return (
    <div class="row">
      {isSilent ? null : <audio controls src={url} aria-label="The clip" onError={() => setRefused(url)} />}
      <span class="hint">
        {clip.name}, {bytes(clip.file.size)}
        {isSilent ? '. This browser cannot play it; the server may be able to read it.' : ''}
      </span>
    </div>
  )
}
