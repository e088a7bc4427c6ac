/**
 * Gives the memory of an array back at once; the array is empty then. The collector sees small objects, not the
 * hundreds of megabytes that they hold, and may leave them until the next window of a clip needs as much again.
 *
 * @param data the only view of its memory that is still used; also of a file that is mapped
 */
export function discard({ buffer }: ArrayBufferView): void {
  if (buffer instanceof ArrayBuffer && !buffer.detached) buffer.transfer(0)
}
