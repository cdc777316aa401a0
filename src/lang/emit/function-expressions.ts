import {
  type Ir,
  type IrOf,
  type IrStmt,
  isEqualByValue,
  type Type,
  type Visitor,
  visit,
  visitSome,
} from '../check/index.js'
import {indent, NotPortable, portableMethods, type Writing} from './portable.js'
import {tsType} from './typescript.js'

export const expressions: Visitor<Ir, string, Writing> = {
  const: ({value}) => (value === undefined ? 'undefined' : JSON.stringify(value)),
  local: ({binding}, w) => w.variable(binding),
  function: ({target}, w) => w.functionName(target.name),
  list: writeItems,
  tuple: writeItems,
  object: ({entries}, w) => writeObject(entries, w),
  map: ({entries}, w) => writeObject(entries, w),
  variant: ({args, variant}, w) => writeObject(args, w, `_tag: "${variant.name}"`),
  some: ({value}, w) => w.value(value),
  ok: ({value}, w) => `ok(${w.value(value)})`,
  error: ({value}, w) => `error(${w.value(value)})`,
  not: ({operand}, w) => `!${writeOperand(operand, w)}`,
  negate: ({operand}, w) => `-${writeOperand(operand, w)}`,
  and: ({left, right}, w) => `(${w.value(left)} && ${w.value(right)})`,
  or: ({left, right}, w) => `(${w.value(left)} || ${w.value(right)})`,
  arithmetic: writeArithmetic,
  concat: ({left, right}, w) => `(${writeShown(left, w)} + ${writeShown(right, w)})`,
  compare: writeCompare,
  if: writeInPlace,
  match: writeInPlace,
  block: writeInPlace,
  lambda: ({params, body}, w) => {
    const list = params.map((param) => `${w.variable(param)}: ${lambdaType(param.type)}`)
    return `((${list.join(', ')}) => {\n${indent(w.body(body, 'return'))}\n})`
  },
  call: ({target, args}, w) => {
    const list = args.map((arg) => (arg === undefined ? 'undefined' : w.value(arg)))
    return `${w.functionName(target.name)}(${list.join(', ')})`
  },
  apply: ({callee, args}, w) => `${writeOperand(callee, w)}(${args.map((arg) => w.value(arg)).join(', ')})`,
  builtin: writeBuiltin,
  method: ({family, name, object, args: argIrs}, w) => {
    if (family === 'list' && isComparing(name, object.type, argIrs)) refuseComparison()
    if (family === 'list' && name === 'sum' && itemOf(object.type).kind === 'float') return `$total(${w.value(object)})`
    const self = writeOperand(object, w)
    const args = argIrs.map((arg) => w.value(arg))
    const write = family === undefined ? undefined : portableMethods[`${family}.${name}`]
    if (write === undefined) throw new NotPortable(`it uses ${name}()`)
    return write(self, args)
  },
  field: ({object, name, type}, w) => {
    const field = `${writeOperand(object, w)}.${name}`
    return type.kind === 'option' ? `(${field} ?? null)` : field
  },
  index: ({object, index, of}, w) => {
    if (of !== 'list') throw new NotPortable('it indexes a value that is not a list')
    return `element(${w.value(object)}, ${w.value(index)})`
  },
  try: () => refuse('?'),
  settle: () => refuse('settle'),
  db: () => refuse('db'),
  for: () => refuse('for'),
}

function refuse(what: string): never {
  throw new NotPortable(`it uses ${what}`)
}

function writeItems({items, type}: IrOf<'list' | 'tuple'>, w: Writing): string {
  return `[${items.map((item) => w.value(item)).join(', ')}]${items.length === 0 ? ` as ${tsType(type)}` : ''}`
}

function writeOperand(ir: Ir, w: Writing): string {
  const text = w.value(ir)
  return /^[\w$.]+(\(.*\))?$/s.test(text) ? text : `(${text})`
}

const writeShown = (ir: Ir, w: Writing): string => (ir.type.kind === 'str' ? w.value(ir) : `show(${w.value(ir)})`)

function writeObject(entries: readonly (readonly [string, Ir])[], w: Writing, tag?: string): string {
  const fields = entries.map(([name, value]) => {
    const text = w.value(value)
    const present = value.type.kind !== 'option' ? text : text === 'null' ? 'undefined' : `$given(${text})`
    return `${JSON.stringify(name)}: ${present}`
  })
  return `{ ${[...(tag === undefined ? [] : [tag]), ...fields].join(', ')} }`
}

function writeArithmetic({operator, mode, left, right}: IrOf<'arithmetic'>, w: Writing): string {
  if (mode === 'dec' || mode === 'unknown')
    throw new NotPortable('it computes with dec, or with values of unknown type')
  const [a, b] = [w.value(left), w.value(right)]
  if (operator === '/') return `${mode === 'int' ? 'divide' : 'quotient'}(${a}, ${b})`
  if (operator === '%') return `remainder(${a}, ${b})`
  return mode === 'int' ? `int(${a} ${operator} ${b})` : `(${a} ${operator} ${b})`
}

function writeCompare({operator, mode, left, right}: IrOf<'compare'>, w: Writing): string {
  if (mode === 'dec' || isEqualByValue(left.type) || isEqualByValue(right.type)) refuseComparison()
  const [a, b] = [w.value(left), w.value(right)]
  if (operator === 'is') return `equal(${a}, ${b})`
  return operator === 'isnt' ? `!equal(${a}, ${b})` : `(${a} ${operator} ${b})`
}

function refuseComparison(): never {
  throw new NotPortable('it compares decimals, durations or sets')
}

const itemOf = (type: Type): Type => ('of' in type ? type.of : type)

/** List methods whose result depends on the equality, order or sum of the items. */
const comparingItems: ReadonlySet<string> = new Set('contains index_of sum avg min max sort distinct to_set'.split(' '))
const growing: ReadonlySet<string> = new Set(['concat', 'append', 'push'])

/** Whether a method compares or adds decimals, or compares the items of a set. */
function isComparing(name: string, type: Type, [key]: readonly Ir[]): boolean {
  if (growing.has(name)) return type.kind === 'set'
  if (name === 'sort_by') return key?.type.kind === 'function' && isEqualByValue(key.type.result)
  return comparingItems.has(name) && isEqualByValue(itemOf(type))
}

/** A construct as a value: an immediately invoked function, which `return` and `break` must not leave. */
function writeInPlace(ir: Ir, w: Writing): string {
  if (leaves(ir)) throw new NotPortable('it returns or breaks from inside a value')
  return `(() => {\n${indent(w.body(ir, 'return'))}\n})()`
}

/** Whether `return`, `break` or `continue` leaves an expression. */
const leaves = (ir: Ir): boolean => visitSome(ir, leavingConstructs, undefined, () => false)

const isLeaving = (stmt: IrStmt): boolean => visit(stmt, leavingStatements, undefined)

const leavingConstructs: Partial<Visitor<Ir, boolean, undefined>> = {
  block: ({statements}) => statements.some(isLeaving),
  if: ({consequent, otherwise}) => leaves(consequent) || (otherwise !== undefined && leaves(otherwise)),
  match: ({arms}) => arms.some(({body}) => isLeaving(body)),
  for: ({body}) => leaves(body),
}

const leavingStatements: Visitor<IrStmt, boolean, undefined> = {
  return: () => true,
  break: () => true,
  continue: () => true,
  while: ({body}) => leaves(body),
  loop: ({body}) => leaves(body),
  let: ({value}) => leaves(value),
  assign: ({value}) => leaves(value),
  assign_element: ({index, value}) => leaves(index) || leaves(value),
  expr: ({value}) => leaves(value),
}

function writeBuiltin({name, args}: IrOf<'builtin'>, w: Writing): string {
  const [first = '', second = ''] = args.map((arg) => w.value(arg))
  switch (name) {
    case 'str':
    case 'to_string':
      return `show(${first})`
    case 'int':
    case 'float':
      return `number(${first}, ${name === 'int'})`
    case 'len':
      return args[0]?.type.kind === 'str' ? `[...${first}].length` : `${first}.length`
    case 'range':
      return `Array.from({ length: Math.max(0, ${second} - ${first}) }, (_, i) => ${first} + i)`
    case 'std.json.stringify':
    case 'std.json.quote':
      return `JSON.stringify(${first})`
    case 'std.time.now_ms':
      return 'Date.now()'
    case 'std.crypto.uuid':
      return 'crypto.randomUUID()'
    case 'Speech.transcribe':
      return `transcribe(${first})`
    default:
      throw new NotPortable(`it uses ${name}`)
  }
}

const lambdaType = (type: Type) => (type.kind === 'unknown' ? 'any' : tsType(type))
