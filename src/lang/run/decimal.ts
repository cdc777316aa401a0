/** Exact decimal arithmetic on digits: `12.50` stays `12.50`. */
interface Scaled {
  digits: bigint
  scale: number
}

function parse(text: string): Scaled {
  const [integer = '0', fraction = ''] = text.split('.')
  return {digits: BigInt(integer + fraction), scale: fraction.length}
}

function print({digits, scale}: Scaled): string {
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, '0')
  const sign = digits < 0n ? '-' : ''
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

function aligned(a: string, b: string): [bigint, bigint, number] {
  const [x, y] = [parse(a), parse(b)]
  const scale = Math.max(x.scale, y.scale)
  const raise = ({digits, scale: own}: Scaled) => digits * 10n ** BigInt(scale - own)
  return [raise(x), raise(y), scale]
}

/** Negative, zero or positive if `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: string, b: string): number {
  const [x, y] = aligned(a, b)
  return x < y ? -1 : x > y ? 1 : 0
}

export function calculateDecimals(a: string, operator: '+' | '-' | '*', b: string): string {
  if (operator === '*') {
    const [x, y] = [parse(a), parse(b)]
    return print({digits: x.digits * y.digits, scale: x.scale + y.scale})
  }
  const [x, y, scale] = aligned(a, b)
  return print({digits: operator === '+' ? x + y : x - y, scale})
}

/** A sort key in decimal order, equal for equal values; the same as the SQL in `plan/sql.ts`. */
export function decimalKey(text: string): string {
  const [before = '', after = ''] = text.split('.')
  const integer = before.replace(/^[-0]+/, '')
  const size = String(integer.length).padStart(7, '0') + integer + after.replace(/0+$/, '')
  const isNegative = text.startsWith('-') && /[1-9]/.test(text)
  return isNegative ? `N${size.replaceAll(/\d/g, (digit) => 'jihgfedcba'[Number(digit)] as string)}~` : `P${size}`
}
