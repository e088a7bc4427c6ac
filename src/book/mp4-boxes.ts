/** Boxes of an MP4: a length, a name of four letters, and what is in them. */

const headBytes = 8

export interface Box {
  name: string
  /** With its head. */
  whole: Uint8Array
}

/** Of a box that has nothing but boxes in it. */
export function childrenOf(parent: Uint8Array): Box[] {
  const view = new DataView(parent.buffer, parent.byteOffset, parent.byteLength)
  const children: Box[] = []
  for (let at = headBytes; at + headBytes <= parent.length;) {
    const size = Math.max(headBytes, view.getUint32(at))
    const name = String.fromCharCode(...parent.subarray(at + 4, at + headBytes))
    children.push({ name, whole: parent.subarray(at, at + size) })
    at += size
  }
  return children
}

export function box(name: string, parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, headBytes))
  new DataView(whole.buffer).setUint32(0, whole.length)
  whole.set(new TextEncoder().encode(name), 4)
  let at = headBytes
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Whole numbers, the highest byte first, each with its size in bytes. */
export function fields(...all: readonly (readonly [bytes: number, value: number])[]): Uint8Array<ArrayBuffer> {
  const bytes = all.flatMap(([size, value]) =>
    Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256),
  )
  return new Uint8Array(bytes)
}
