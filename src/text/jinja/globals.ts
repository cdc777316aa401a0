import {budget, TemplateError} from './budget.js'
import {bind, define, requireInteger, requireText} from './definition.js'
import {strftime} from './strftime.js'
import {Callable, Dict, iterate, type Named, Namespace, none, PyObject, Range, Undefined, type Value} from './values.js'

/** The template rejects its variables with `raise_exception`. */
export class RefusedError extends TemplateError {}

/** As in the sandbox of Jinja2. */
const maxRange = 100_000

function range(args: readonly Value[]): Range {
  if (args.length < 1 || args.length > 3) throw new TemplateError(`range expected 1 to 3 arguments, got ${args.length}`)
  const [first, second, third] = args
  const [start, stop] =
    second === undefined ? [0, requireInteger(first, 0)] : [requireInteger(first, 0), requireInteger(second, 0)]
  const step = requireInteger(third, 1)
  if (step === 0) throw new TemplateError('range() arg 3 must not be zero')
  const found = new Range(start, stop, step)
  if (found.length > maxRange) throw new TemplateError(`a range has more than ${maxRange} elements`)
  return found
}

/** The entries of a dictionary or of pairs, then named values. */
function entriesOf(args: readonly Value[], named: Named): Dict {
  const [source] = args
  const dict = new Dict()
  if (source instanceof Dict) for (const [key, value] of source.entries()) dict.set(key, value)
  else if (source !== undefined)
    for (const pair of iterate(source)) {
      const [key, value] = [...iterate(pair)]
      if (key === undefined || value === undefined) throw new TemplateError('a dictionary needs pairs of key and value')
      dict.set(key, value)
    }
  for (const [key, value] of named) dict.set(key, value)
  return dict
}

function namespace(args: readonly Value[], named: Named): Namespace {
  const created = new Namespace()
  for (const [key, value] of entriesOf(args, named).entries()) created.values.set(requireText(key, 'name'), value)
  return created
}

class Cycler extends PyObject {
  readonly type = 'Cycler'
  readonly #items: readonly Value[]
  #position = 0
  constructor(items: readonly Value[]) {
    super()
    if (items.length === 0) throw new TemplateError('at least one item has to be provided')
    this.#items = items
  }
  override attribute(name: string): Value | undefined {
    const current = this.#items[this.#position] as Value
    if (name === 'current') return current
    if (name !== 'next' && name !== 'reset') return undefined
    return new Callable(name, () => {
      const value = this.#items[this.#position] as Value
      this.#position = name === 'reset' ? 0 : (this.#position + 1) % this.#items.length
      return name === 'reset' ? none : value
    })
  }
}

function joiner(separator: Value): Callable {
  let isUsed = false
  return new Callable('joiner', () => {
    if (isUsed) return separator
    isUsed = true
    return ''
  })
}

const messageParameter = define('message', () => none)
const formatParameter = define('format', () => none)

/** The functions that every template can call. @param now local time of `strftime_now` */
export function globals(now: () => Date): Named {
  const functions: Readonly<Record<string, (args: readonly Value[], named: Named) => Value>> = {
    range,
    dict: entriesOf,
    namespace,
    cycler: (args) => new Cycler(args),
    joiner: (args, named) => joiner(args[0] ?? named.get('sep') ?? ', '),
    strftime_now: (args, named) => {
      const [format] = bind('strftime_now', formatParameter, args, named)
      return strftime(now(), requireText(format, 'format'))
    },
    raise_exception: (args, named) => {
      const [message] = bind('raise_exception', messageParameter, args, named)
      throw new RefusedError(message instanceof Undefined ? message.message : String(message))
    },
  }
  return new Map(
    Object.entries(functions).map(([name, call]) => [
      name,
      new Callable(name, (args, named) => {
        budget.spend(1)
        return call(args, named)
      }),
    ]),
  )
}
