/**
 * The map that takes one cloud of points to another with the least movement, if both are Gaussian: with covariances S
 * and R it is S^-1/2 (S^1/2 R S^1/2)^1/2 S^-1/2 (G. Peyré, M. Cuturi, "Computational Optimal Transport", 2019, remark
 * 2.31). Symmetric matrices, row by row.
 */
export type Matrix = Float64Array

/** Sweeps of Jacobi's method; a matrix of 23 rows is diagonal after 8 or so. */
const sweepsMax = 30

export function transportMap(from: Matrix, to: Matrix, size: number): Matrix {
  const root = power(from, size, 0.5)
  const inverse = power(from, size, -0.5)
  const between = product(product(root, to, size), root, size)
  return product(product(inverse, power(symmetric(between, size), size, 0.5), size), inverse, size)
}

/** Mean and covariance of points, with `ridge` added to each variance. */
export function momentsOf(
  points: readonly Float64Array[],
  size: number,
  ridge: number,
): { mean: Float64Array; covariance: Matrix } {
  const mean = new Float64Array(size)
  for (const point of points) for (let at = 0; at < size; at++) mean[at]! += point[at]! / points.length
  const covariance = new Float64Array(size * size)
  for (const point of points) {
    for (let row = 0; row < size; row++) {
      const difference = (point[row]! - mean[row]!) / Math.max(1, points.length - 1)
      for (let at = 0; at < size; at++) covariance[row * size + at]! += difference * (point[at]! - mean[at]!)
    }
  }
  for (let at = 0; at < size; at++) covariance[at * size + at]! += ridge
  return { mean, covariance }
}

function product(a: Matrix, b: Matrix, size: number): Matrix {
  const result = new Float64Array(size * size)
  for (let row = 0; row < size; row++) {
    for (let middle = 0; middle < size; middle++) {
      const factor = a[row * size + middle]!
      for (let at = 0; at < size; at++) result[row * size + at]! += factor * b[middle * size + at]!
    }
  }
  return result
}

/** Rounding leaves the halves a little different. */
const symmetric = (matrix: Matrix, size: number): Matrix =>
  matrix.map((value, at) => (value + matrix[(at % size) * size + Math.floor(at / size)]!) / 2)

/** @throws nothing: values that rounding has made negative count as nearly none */
function power(matrix: Matrix, size: number, exponent: number): Matrix {
  const { values, vectors } = eigen(matrix, size)
  const result = new Float64Array(size * size)
  for (let k = 0; k < size; k++) {
    const value = Math.max(1e-9, values[k]!) ** exponent
    for (let row = 0; row < size; row++) {
      for (let at = 0; at < size; at++)
        result[row * size + at]! += vectors[row * size + k]! * value * vectors[at * size + k]!
    }
  }
  return result
}

/** Cyclic Jacobi (G. Golub, C. Van Loan, Matrix Computations, section 8.5). */
function eigen(given: Matrix, size: number): { values: Float64Array; vectors: Matrix } {
  const matrix = given.slice()
  const vectors = new Float64Array(size * size)
  for (let at = 0; at < size; at++) vectors[at * size + at] = 1
  for (let sweep = 0; sweep < sweepsMax && offDiagonal(matrix, size) > 1e-18; sweep++) {
    for (let p = 0; p < size - 1; p++) for (let q = p + 1; q < size; q++) rotate(matrix, vectors, size, p, q)
  }
  return { values: Float64Array.from({ length: size }, (_, at) => matrix[at * size + at]!), vectors }
}

function offDiagonal(matrix: Matrix, size: number): number {
  let off = 0
  let on = 0
  for (let row = 0; row < size; row++) {
    for (let at = 0; at < size; at++) {
      if (row === at) on += matrix[row * size + at]! ** 2
      else off += matrix[row * size + at]! ** 2
    }
  }
  return off / Math.max(on, Number.MIN_VALUE)
}

function rotate(matrix: Matrix, vectors: Matrix, size: number, p: number, q: number): void {
  const pq = matrix[p * size + q]!
  if (pq === 0) return
  const tau = (matrix[q * size + q]! - matrix[p * size + p]!) / (2 * pq)
  const t = Math.sign(tau || 1) / (Math.abs(tau) + Math.sqrt(1 + tau * tau))
  const cos = 1 / Math.sqrt(1 + t * t)
  const sin = t * cos
  const turn = (of: Matrix, one: number, other: number) => {
    const a = of[one]!
    const b = of[other]!
    of[one] = cos * a - sin * b
    of[other] = sin * a + cos * b
  }
  for (let at = 0; at < size; at++) turn(matrix, at * size + p, at * size + q)
  for (let at = 0; at < size; at++) turn(matrix, p * size + at, q * size + at)
  for (let at = 0; at < size; at++) turn(vectors, at * size + p, at * size + q)
}
