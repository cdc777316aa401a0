/** An exact decimal number: `units` * 10^-`scale`. */
export interface Decimal {
  readonly units: bigint
  readonly scale: number
}

/** The exact value of the shortest decimal text of a number. Throws nothing: the argument is finite. */
export function decimal(value: number): Decimal {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(String(value))!
  const units = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  return normal(scale < 0 ? {units: units * 10n ** BigInt(-scale), scale: 0} : {units, scale})
}

/**
 * The shortest text of the double that follows that of a value, up or down. Decimals between two doubles are rounded to one
 * of them when a program reads them.
 */
export function neighbour({units, scale}: Decimal, direction: 1 | -1): Decimal {
  const double = Number(`${units}e-${scale}`)
  const bits = new BigInt64Array(1)
  const value = new Float64Array(bits.buffer)
  value[0] = double
  if (double === 0) value[0] = direction * Number.MIN_VALUE
  else bits[0]! += double > 0 === direction > 0 ? 1n : -1n
  return Number.isFinite(value[0]) ? decimal(value[0]!) : {units: units + BigInt(direction), scale: 0}
}

/** The decimal with the smallest scale that is not negative. */
export function normal({units, scale}: Decimal): Decimal {
  let [u, s] = [units, scale]
  while (s > 0 && u % 10n === 0n) [u, s] = [u / 10n, s - 1]
  return {units: u, scale: s}
}

/** Units of the value at a scale that is not less than its own. */
export const unitsAt = ({units, scale}: Decimal, at: number): bigint => units * 10n ** BigInt(at - scale)

export function compare(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const difference = unitsAt(a, scale) - unitsAt(b, scale)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export const isMultiple = (value: Decimal, of: Decimal): boolean => {
  const scale = Math.max(value.scale, of.scale)
  return unitsAt(value, scale) % unitsAt(of, scale) === 0n
}

/** The smallest positive number that is a multiple of both. */
export function commonMultiple(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale)
  const [x, y] = [unitsAt(a, scale), unitsAt(b, scale)]
  return normal({units: (x * y) / greatestDivisor(x, y), scale})
}

const greatestDivisor = (a: bigint, b: bigint): bigint => (b === 0n ? a : greatestDivisor(b, a % b))

/** Digits before and after the point of the magnitude, without zeros at the end of the fraction. */
export function digits({units, scale}: Decimal): {whole: string; fraction: string} {
  const all = (units < 0n ? -units : units).toString().padStart(scale + 1, '0')
  return {whole: all.slice(0, all.length - scale), fraction: all.slice(all.length - scale).replace(/0+$/, '')}
}
