import { expect, test } from 'bun:test'
import { Seeded } from '../../testing/seeded.ts'
import { momentsOf, transportMap } from './transport.ts'

const size = 6

/** Points with a covariance of their own. */
function cloud(seed: number, shift: number): Float64Array[] {
  const random = new Seeded(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  const mixing = Array.from({ length: size * size }, normal)
  return Array.from({ length: 2000 }, () => {
    const plain = Array.from({ length: size }, normal)
    return Float64Array.from(
      { length: size },
      (_, row) => shift + plain.reduce((sum, value, at) => sum + mixing[row * size + at]! * value, 0),
    )
  })
}

const moved = (points: readonly Float64Array[], map: Float64Array, from: Float64Array, to: Float64Array) =>
  points.map((point) =>
    to.map((value, row) => {
      let sum = value
      for (let at = 0; at < size; at++) sum += map[row * size + at]! * (point[at]! - from[at]!)
      return sum
    }),
  )

test('what is moved has the mean and the covariance of the other cloud', () => {
  const [one, other] = [cloud(1, 2), cloud(2, -3)]
  const from = momentsOf(one, size, 0)
  const to = momentsOf(other, size, 0)
  const there = momentsOf(moved(one, transportMap(from.covariance, to.covariance, size), from.mean, to.mean), size, 0)
  const scale = Math.max(...to.covariance)
  for (const [at, value] of to.covariance.entries()) expect(there.covariance[at]! / scale).toBeCloseTo(value / scale, 6)
  for (const [at, value] of to.mean.entries()) expect(there.mean[at]).toBeCloseTo(value, 6)
})

test('the map is symmetric, and of a cloud to itself it moves nothing', () => {
  const from = momentsOf(cloud(1, 2), size, 0)
  const to = momentsOf(cloud(2, -3), size, 0)
  const map = transportMap(from.covariance, to.covariance, size)
  const none = transportMap(from.covariance, from.covariance, size)
  for (let row = 0; row < size; row++) {
    for (let at = 0; at < size; at++) {
      expect(map[row * size + at]).toBeCloseTo(map[at * size + row]!, 6)
      expect(none[row * size + at]).toBeCloseTo(row === at ? 1 : 0, 6)
    }
  }
})

test('points that all are one have the ridge for their covariance', () => {
  const { mean, covariance } = momentsOf([Float64Array.of(1, 2), Float64Array.of(1, 2)], 2, 0.5)
  expect([[...mean], [...covariance]]).toEqual([
    [1, 2],
    [0.5, 0, 0, 0.5],
  ])
})
