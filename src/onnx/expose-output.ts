/**
 * A value inside a graph made one of its outputs, in the file's bytes. A model file is a protobuf message, and a
 * message that names a field twice means both merged: so it is enough to put, behind the file, a graph that holds the
 * one output (https://protobuf.dev/programming-guides/encoding/#last-one-wins; onnx.proto: ModelProto.graph is 7,
 * GraphProto.output is 12, ValueInfoProto.name is 1). ONNX Runtime finds out the type by itself.
 */
const graphField = 7
const outputField = 12
const nameField = 1

/** @param name of the value, as the node that makes it calls it */
export function exposeOutput(model: Uint8Array, name: string): Uint8Array<ArrayBuffer> {
  const output = field(nameField, new TextEncoder().encode(name))
  const more = field(graphField, field(outputField, output))
  const whole = new Uint8Array(model.length + more.length)
  whole.set(model)
  whole.set(more, model.length)
  return whole
}

function field(number: number, content: Uint8Array): Uint8Array {
  return Uint8Array.from([...varint((number << 3) | 2), ...varint(content.length), ...content])
}

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return [...bytes, rest]
}
