/** An input or output of a graph, as a file describes it (onnx.proto, `ValueInfoProto`). */
import { joined, lengthField, numberField } from './wire.ts'

const portFields = { name: 1, type: 2 } as const
const typeFields = { tensor: 1 } as const
const tensorFields = { element: 1, shape: 2 } as const
const shapeFields = { dimension: 1 } as const
const dimensionFields = { length: 1, parameter: 2 } as const

/** @param element one of `elementTypes` @param dims a name: as many as there are */
export function portOf(name: string, element: number, dims: readonly (string | number)[]): Uint8Array {
  const shape = dims.flatMap((dim) => {
    const length =
      typeof dim === 'number' ? numberField(dimensionFields.length, dim) : lengthField(dimensionFields.parameter, dim)
    return lengthField(shapeFields.dimension, joined(length))
  })
  const tensor = [...numberField(tensorFields.element, element), ...lengthField(tensorFields.shape, joined(shape))]
  const type = lengthField(typeFields.tensor, joined(tensor))
  return joined([...lengthField(portFields.name, name), ...lengthField(portFields.type, joined(type))])
}
