/**
 * Matroska goes on behind damage: a demuxer that lost its way is given the file again, with everything up to the next
 * cluster declared void (RFC 8794, 11.3.2). Each cluster says when it begins, so what is missing is known.
 */
import type { Packet } from './decode-packet.ts'
import type { ClipBytes } from './decode-source.ts'
import { patched } from './decode-source.ts'

type Timed = Pick<Packet, 'data' | 'timestamp' | 'duration'>

const clusterId = Buffer.from('1f43b675', 'hex')
const scaleId = Buffer.from('2ad7b1', 'hex')
const usualScaleNs = 1_000_000
const scanBytes = 262_144
/** Clusters overlap a little in sound files, too. */
const leastStepSeconds = 0.001
const maxRestarts = 1000
/** Clusters of pictures may follow the last sound. */
const maxFruitless = 8

/** @param reopen gives the packets of a mended file */
export async function* clusterPackets(
  clip: ClipBytes,
  packets: AsyncIterable<Timed>,
  reopen: (mended: ClipBytes) => Promise<AsyncIterable<Timed>>,
): AsyncGenerator<Timed> {
  let reached = -Infinity
  let fruitless = 0
  let failure: unknown = null
  let current: AsyncIterable<Timed> | null = packets
  const first = nextCluster(clip, 0)
  let from = first?.end ?? clip.sizeBytes
  for (let restarts = 0; restarts < maxRestarts; restarts++) {
    try {
      for await (const packet of current ?? []) {
        if (restarts > 0 && packet.timestamp <= reached) continue
        reached = Math.max(reached, packet.timestamp)
        fruitless = 0
        yield packet
      }
    } catch (error) {
      failure ??= error
    }
    if (fruitless++ > maxFruitless) break
    const cluster = clusterAfter(clip, from, reached + leastStepSeconds)
    if (first === null || cluster === null) break
    from = cluster.end
    const mended = patched(clip, first.at, voidElement(cluster.at - first.at))
    current = await reopen(mended).catch(() => null)
  }
  if (failure !== null && reached === -Infinity) throw failure
}

interface Cluster {
  at: number
  end: number
  seconds: number
}

function clusterAfter(clip: ClipBytes, from: number, seconds: number): Cluster | null {
  for (let cluster = nextCluster(clip, from); cluster !== null; cluster = nextCluster(clip, cluster.end)) {
    if (cluster.seconds > seconds) return cluster
  }
  return null
}

/** @param `end` is not that of the cluster, but where to look for another */
function nextCluster(clip: ClipBytes, from: number): Cluster | null {
  const scaleNs = scaleOf(clip)
  for (let at = from; at < clip.sizeBytes;) {
    const window = Buffer.from(clip.read(at, at + scanBytes))
    const found = window.indexOf(clusterId)
    if (found < 0) {
      at += Math.max(1, window.length - 3)
      continue
    }
    at += found
    const ticks = ticksOf(clip.read(at + 4, at + 32))
    if (ticks !== null) return { at, end: at + 4, seconds: (ticks * scaleNs) / 1e9 }
    at += 4
  }
  return null
}

/** The cluster's time (RFC 9559, 5.1.3.1), which comes first, or behind a checksum. */
function ticksOf(bytes: Uint8Array): number | null {
  let at = Math.clz32(bytes[0] ?? 0) - 24 + 1
  if (bytes[at] === 0xbf) at += 6
  if (bytes[at] !== 0xe7) return null
  const size = (bytes[at + 1] ?? 0) & 0x7f
  if (size < 1 || size > 6) return null
  return bytes.subarray(at + 2, at + 2 + size).reduce((value, byte) => value * 256 + byte, 0)
}

function scaleOf({ head }: ClipBytes): number {
  const at = Buffer.from(head).indexOf(scaleId)
  const size = (head[at + 3] ?? 0) & 0x7f
  if (at < 0 || size < 1 || size > 4) return usualScaleNs
  return head.subarray(at + 4, at + 4 + size).reduce((value, byte) => value * 256 + byte, 0)
}

/** The head of an element that is read over, of that size as a whole. */
function voidElement(sizeBytes: number): Uint8Array {
  const bytes = Buffer.alloc(9)
  bytes[0] = 0xec
  bytes[1] = 0x01
  bytes.writeUIntBE(sizeBytes - bytes.length, 3, 6)
  return bytes
}
