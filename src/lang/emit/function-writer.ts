import {
  type FunctionType,
  type Ir,
  type IrOf,
  type IrPattern,
  type IrStmt,
  type Visitor,
  visit,
  visitSome,
} from '../check/index.js'
import {expressions} from './function-expressions.js'
import {indent, NotPortable, type Use, type Writing} from './portable.js'
import {tsType} from './typescript.js'

/** A function in TypeScript. `functionName`: the names of functions in the file. @throws NotPortable */
export function writeFunction(made: FunctionType, functionName: Writing['functionName']): string {
  const {name, params, result, body, decl} = made
  const w = writingOf(made, functionName)
  const list = params.map(({binding, type, fallback}) => {
    const declared = `${w.variable(binding)}: ${tsType(type)}`
    return fallback === undefined ? declared : `${declared} = ${w.value(fallback)}`
  })
  const lines = w.body(body as Ir, result.kind === 'unit' ? 'ignore' : 'return')
  const doc = decl.doc === undefined ? '' : `/** ${decl.doc.replaceAll('*/', '*\\/')} */\n`
  return `${doc}export function ${functionName(name)}(${list.join(', ')}): ${tsType(result)} {\n${indent(lines)}\n}\n`
}

function writingOf({params}: FunctionType, functionName: Writing['functionName']): Writing {
  let temporaries = 0
  const w: Writing = {
    functionName,
    // Variables with the same name in different blocks are distinguished by their slot.
    variable: ({name, slot}) =>
      params.some(({binding}) => binding.slot === slot) ? functionName(name) : `${name}$${slot}`,
    temporary: () => `$${temporaries++}`,
    value: (ir) => visit(ir, expressions, w),
    body: (ir, use) => (ir.kind === 'block' ? writeStatements(ir, {w, use}) : writeUsed(ir, {w, use})),
  }
  return w
}

/** The context of a construct, and the use of its last value. */
interface Place {
  w: Writing
  use: Use
}

const writeStatements = ({statements: list}: IrOf<'block'>, {w, use}: Place): string =>
  list.map((stmt, i) => visit(stmt, statements, {w, use: i === list.length - 1 ? use : 'ignore'})).join('\n')

const writeUsed = (ir: Ir, place: Place): string =>
  visitSome(ir, constructs, place, (value, {w, use}) =>
    use === 'return' && value.type.kind !== 'never' ? `return ${w.value(value)};` : `${w.value(value)};`,
  )

const constructs: Partial<Visitor<Ir, string, Place>> = {
  block: (ir, place) => `{\n${indent(writeStatements(ir, place))}\n}`,
  if: ({condition, consequent, otherwise: second}, {w, use}) => {
    const otherwise = second === undefined ? '' : ` else {\n${indent(w.body(second, use))}\n}`
    return `if (${w.value(condition)}) {\n${indent(w.body(consequent, use))}\n}${otherwise}`
  },
  match: ({subject, arms}, place) => {
    const {w, use} = place
    const value = w.temporary()
    const label = `match${value}`
    const lines = arms.map(({pattern, guard, body}) => {
      const {tests, bindings} = visit(pattern, patterns, {w, value})
      const isReturned = use === 'return' && body.kind === 'expr' && body.value.type.kind !== 'unit'
      const inner = [visit(body, statements, place), ...(isReturned ? [] : [`break ${label};`])].join('\n')
      const guarded = guard === undefined ? inner : `if (${w.value(guard)}) {\n${indent(inner)}\n}`
      const arm = indent([...bindings, guarded].join('\n'))
      return tests.length === 0 ? `{\n${arm}\n}` : `if (${tests.join(' && ')}) {\n${arm}\n}`
    })
    const unmatched = use === 'return' ? '\nfail("no match arm matches the value");' : ''
    return `const ${value} = ${w.value(subject)};\n${label}: {\n${indent(lines.join('\n'))}\n}${unmatched}`
  },
  for: ({item, index, list, body}, {w}) => {
    if (list.type.kind !== 'list' && list.type.kind !== 'set')
      throw new NotPortable('it iterates over a value that is not a list')
    const [at, each] = [loopVariable(index, w), loopVariable(item, w)]
    const lines = [...at.bindings, ...each.bindings, w.body(body, 'ignore')].join('\n')
    return `for (const [${at.name}, ${each.name}] of ${w.value(list)}.entries()) {\n${indent(lines)}\n}`
  },
}

/** The name of a loop variable, and the variables of its pattern. */
function loopVariable(pattern: IrPattern | undefined, w: Writing): {name: string; bindings: readonly string[]} {
  if (pattern?.kind === 'bind') return {name: w.variable(pattern.binding), bindings: []}
  const name = w.temporary()
  return {name, bindings: pattern === undefined ? [] : visit(pattern, patterns, {w, value: name}).bindings}
}

const loopBody = (body: Ir, w: Writing) => `{\n${indent(w.body(body, 'ignore'))}\n}`

const statements: Visitor<IrStmt, string, Place> = {
  let: ({pattern, value: expr}, {w}) => {
    const value = w.value(expr)
    if (pattern.kind === 'bind')
      return `let ${w.variable(pattern.binding)}: ${tsType(pattern.binding.type)} = ${value};`
    const name = w.temporary()
    const {bindings} = visit(pattern, patterns, {w, value: name})
    return [`const ${name} = ${value};`, ...bindings].join('\n')
  },
  assign: ({binding, value}, {w}) => `${w.variable(binding)} = ${w.value(value)};`,
  assign_element: () => {
    throw new NotPortable('it assigns an element')
  },
  return: ({value}, {w}) => (value === undefined ? 'return;' : writeUsed(value, {w, use: 'return'})),
  while: ({condition, body}, {w}) => `while (${w.value(condition)}) ${loopBody(body, w)}`,
  loop: ({body}, {w}) => `for (;;) ${loopBody(body, w)}`,
  break: () => 'break;',
  continue: () => 'continue;',
  expr: ({value}, place) => writeUsed(value, place),
}

/** The conditions for a match, and the variables that it binds. */
interface Match {
  tests: string[]
  bindings: string[]
}

/** Writers of patterns. `value`: the TypeScript of the matched value. */
const patterns: Visitor<IrPattern, Match, {w: Writing; value: string}> = {
  any: () => ({tests: [], bindings: []}),
  bind: ({binding}, {w, value}) => ({tests: [], bindings: [`let ${w.variable(binding)} = ${value};`]}),
  literal: (pattern, {value}) => ({tests: [`${value} === ${JSON.stringify(pattern.value)}`], bindings: []}),
  none: (_, {value}) => ({tests: [`${value} === null`], bindings: []}),
  some: ({of}, {w, value}) => both(`${value} !== null`, [[of, value]], w),
  ok: ({of}, {w, value}) => both(`${value}._tag === "Ok"`, [[of, `${value}.value`]], w),
  error: ({of}, {w, value}) => both(`${value}._tag === "Error"`, [[of, `${value}.value`]], w),
  variant: ({tag, fields}, {w, value}) =>
    both(
      `${value}._tag === "${tag}"`,
      fields.map(([name, field]) => [field, `${value}.${name}`]),
      w,
    ),
  tuple: ({items}, {w, value}) =>
    both(
      undefined,
      items.map((item, i) => [item, `${value}[${i}]`]),
      w,
    ),
}

/** Combines a test with patterns for the parts of the value. */
function both(test: string | undefined, parts: readonly (readonly [IrPattern, string])[], w: Writing): Match {
  const inner = parts.map(([pattern, value]) => visit(pattern, patterns, {w, value}))
  return {
    tests: [...(test === undefined ? [] : [test]), ...inner.flatMap(({tests}) => tests)],
    bindings: inner.flatMap(({bindings}) => bindings),
  }
}
