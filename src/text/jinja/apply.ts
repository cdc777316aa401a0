import {budget, TemplateError} from './budget.js'
import {bind, requireText} from './definition.js'
import {filters, filterValues, reader} from './filters.js'
import {percentFormat} from './format.js'
import {tests} from './tests.js'
import {Dict, Generator, isTrue, iterate, type Named, none, textOf, toTuple, type Value} from './values.js'

/** A filter whose further arguments belong to another filter or test. */
type OpenFilter = (value: Value, args: readonly Value[], named: Named) => Value
function* mapValues(values: Value, change: (value: Value) => Value): Iterable<Value> & Iterator<Value> {
  for (const value of iterate(values)) yield change(value)
}

const choosing =
  (keeps: boolean, byAttribute: boolean): OpenFilter =>
  (values, args, named) => {
    const [attribute, ...rest]: readonly Value[] = byAttribute ? args : [none, ...args]
    if (byAttribute && attribute === undefined) throw new TemplateError('Missing parameter for attribute name')
    const read = reader(attribute)
    const [name, ...others] = rest
    const accepts = (value: Value) =>
      name === undefined ? isTrue(read(value)) : test(requireText(name, 'test name'), read(value), others, named)
    return isTrue(values) ? new Generator(filterValues(values, (value) => accepts(value) === keeps)) : new Generator([])
  }

const map: OpenFilter = (values, args, named) => {
  if (!isTrue(values)) return new Generator([])
  const [name, ...rest] = args
  if (name === undefined) {
    const fallback = named.get('default')
    const unknown = [...named.keys()].find((key) => key !== 'attribute' && key !== 'default')
    if (unknown !== undefined) throw new TemplateError(`Unexpected keyword argument '${unknown}'`)
    if (!named.has('attribute')) throw new TemplateError('map requires a filter argument')
    return new Generator(mapValues(values, reader(named.get('attribute'), fallback)))
  }
  return new Generator(mapValues(values, (value) => filter(requireText(name, 'filter name'), value, rest, named)))
}

const format: OpenFilter = (value, args, named) => {
  if (args.length > 0 && named.size > 0)
    throw new TemplateError("can't handle positional and keyword arguments at the same time")
  return percentFormat(textOf(value), named.size > 0 ? Dict.of(named) : toTuple(args))
}

const open: ReadonlyMap<string, OpenFilter> = new Map(
  Object.entries<OpenFilter>({
    format,
    map,
    reject: choosing(false, false),
    rejectattr: choosing(false, true),
    select: choosing(true, false),
    selectattr: choosing(true, true),
  }),
)

/** `value | name(args)` */
export function filter(name: string, value: Value, args: readonly Value[] = [], named: Named = new Map()): Value {
  budget.read(value, ...args, ...named.values())
  const definition = filters.get(name)
  if (definition !== undefined)
    return budget.changed(value, definition.run(value, ...bind(name, definition, args, named)))
  const run = open.get(name)
  if (run === undefined) throw new TemplateError(`No filter named '${name}'`)
  return run(value, args, named)
}

/** `value is name(args)` */
export function test(name: string, value: Value, args: readonly Value[], named: Named): boolean {
  if (name === 'filter') return typeof value === 'string' && (filters.has(value) || open.has(value))
  if (name === 'test') return typeof value === 'string' && (tests.has(value) || value === 'filter' || value === 'test')
  const definition = tests.get(name)
  budget.read(value, ...args, ...named.values())
  if (definition === undefined) throw new TemplateError(`No test named '${name}'`)
  return definition.run(value, ...bind(name, definition, args, named)) === true
}
