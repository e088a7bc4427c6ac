/** Models as the server lists them, and the pages that follow their downloads. */
import { useEffect, useState } from 'preact/hooks'
import { type Loaded, useLoaded } from '../parts/loading.ts'

export interface Pull {
  state: 'waiting' | 'checking' | 'receiving' | 'failed'
  done_bytes: number
  total_bytes: number | null
  bytes_per_second: number | null
  ms_left: number | null
  error: string | null
}

export interface Model {
  id: string
  name: string
  description: string
  task: string
  architecture: string
  /** The one of its architecture to install on this machine. */
  recommended: boolean
  /** What it sounds like; null: no sample of it is inside the program. */
  sample_url: string | null
  state: 'built_in' | 'installed' | 'broken' | 'absent'
  languages: string[]
  voices: number
  cloning: string | null
  memory_bytes: number
  disk_bytes: number
  download_bytes: number
  unknown_sizes: number
  license: { name: string; attribution: string; limits: string | null }
  /** Files of the operator's own in the place of this model; null: the published ones. */
  like: string | null
  pull: Pull | null
}

export const modelsPath = '/console/api/admin/models'

export const isPulling = ({ pull }: Model): boolean => pull !== null && pull.state !== 'failed'

/** While something is coming, and while nothing is: another window may have begun it. */
const [busyMs, idleMs] = [1000, 8000]

/** All of them, asked for again and again. */
export function useModels(): Loaded<{ data: Model[] }> {
  const [isBusy, setIsBusy] = useState(false)
  const models = useLoaded<{ data: Model[] }>(modelsPath, isBusy ? busyMs : idleMs)
  const { value } = models
  useEffect(() => setIsBusy((value?.data ?? []).some(isPulling)), [value])
  return models
}

export const isHere = ({ state, pull }: Model): boolean => state !== 'absent' || pull !== null
