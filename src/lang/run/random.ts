import {randomBytes, randomInt} from 'node:crypto'
import type {Context} from './context.js'
import {Failure} from './failure.js'
import type {Value} from './value.js'

type Builtin = (args: readonly Value[], context: Context) => Value

/** The range of `randomInt` is less than 2 ** 48. */
const maxRange = 2 ** 48 - 1

function integer(min: number, max: number): number {
  if (min > max) throw new Failure('CONVERSION', `there is no int from ${min} to ${max}`)
  if (max - min >= maxRange) throw new Failure('INT_OVERFLOW', 'the range of a random int is at most 2 to the 48th')
  return randomInt(min, max + 1)
}

/** 53 random bits. */
const real = (): number => randomInt(2 ** 47) / 2 ** 47

const maxBytes = 1024

function token(count: number): string {
  if (count < 1 || count > maxBytes) throw new Failure('CONVERSION', `a token has 1 to ${maxBytes} bytes, not ${count}`)
  return randomBytes(count).toString('base64url')
}

/** Fisher and Yates. */
function shuffled(items: readonly Value[]): Value[] {
  const copy = [...items]
  for (let i = copy.length - 1; i > 0; i--) {
    const j = randomInt(i + 1)
    ;[copy[i], copy[j]] = [copy[j], copy[i]]
  }
  return copy
}

/** Cryptographically secure; each result is kept if the handler is run again. */
export const randomBuiltins: Readonly<Record<string, Builtin>> = {
  'std.random.int': ([min, max], context) => context.once(() => integer(Number(min), Number(max))),
  'std.random.float': (_, context) => context.once(real),
  'std.random.token': ([count], context) => context.once(() => token(Number(count))),
  'std.random.choice': ([list], context) => {
    const items = list as readonly Value[]
    return items.length === 0 ? null : items[context.once(() => randomInt(items.length))]
  },
  'std.random.shuffle': ([list], context) => {
    const items = list as readonly Value[]
    context.items(items.length)
    return context.once(() => shuffled(items))
  },
}
