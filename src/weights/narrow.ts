const float = new Float32Array(1)
const word = new Uint32Array(float.buffer)

/** The bits of the nearest binary16, ties to even; what is too large becomes infinite. */
export function floatToHalf(value: number): number {
  float[0] = value
  const bits = word[0]!
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 255) - 112
  const fraction = bits & 0x7f_ffff
  if (exponent >= 31) return sign | (exponent === 143 && fraction !== 0 ? 0x7e00 : 0x7c00)
  if (exponent < -10) return sign
  // A subnormal shows the leading bit that a normal number leaves out.
  const whole = exponent > 0 ? (exponent << 23) | fraction : fraction | 0x80_0000
  const shift = exponent > 0 ? 13 : 14 - exponent
  const half = whole >>> shift
  const rest = whole & ((1 << shift) - 1)
  const tie = 1 << (shift - 1)
  const up = rest > tie || (rest === tie && (half & 1) === 1)
  return sign | (half + (up ? 1 : 0))
}
