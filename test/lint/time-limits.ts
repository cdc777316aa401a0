/**
 * Finds time limits in tests that a busy machine can miss. They are deadlines, and upper bounds on measured time, of
 * less than 10 s, and limits of whole tests of less than two minutes. A test needs counted work, an event or a generous
 * deadline instead. A test that hangs needs no limit, because the runner has one for each file.
 */
import {parseAst} from 'rolldown/parseAst'

/** Smallest limit that is generous, ms. */
export const minMs = 10_000
/** The same for a test, a suite or a hook. */
export const minTestMs = 120_000

export interface Limit {
  line: number
  ms: number
  /** Smallest limit that is accepted here, ms. */
  min: number
}

interface Node {
  type: string
  start: number
  [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'

const childrenOf = (node: Node): Node[] => Object.values(node).flat().filter(isNode)

/** A node and all nodes inside. */
function* nodesOf(node: Node): Generator<Node> {
  yield node
  for (const child of childrenOf(node)) yield* nodesOf(child)
}

const some = (node: Node, test: (each: Node) => boolean) => [...nodesOf(node)].some(test)

/** Name of an identifier, or of the last property of a member expression. */
function nameOf(node: unknown): string {
  if (!isNode(node)) return ''
  if (node.type === 'Identifier') return String(node.name)
  if (node.type === 'MemberExpression') return nameOf(node.property)
  return ''
}

/** First name of a chain: `assert` of `assert.ok`. */
function rootOf(node: unknown): string {
  if (!isNode(node)) return ''
  if (node.type === 'MemberExpression') return rootOf(node.object)
  return node.type === 'CallExpression' ? rootOf(node.callee) : nameOf(node)
}

const isCall = (node: Node, ...names: string[]) => node.type === 'CallExpression' && names.includes(nameOf(node.callee))
const argumentsOf = (node: Node) => node.arguments as Node[]

const isClock = (node: Node) =>
  isCall(node, 'now') && ['performance', 'Date'].includes(nameOf((node.callee as Node).object))

/** A call that fails a test. */
const isFailure = (node: Node) =>
  node.type === 'ThrowStatement' ||
  isCall(node, 'fail', 'reject') ||
  (node.type === 'Identifier' && /^(fail|reject)$/.test(nameOf(node)))

const runsTests = ['it', 'test', 'describe', 'suite', 'before', 'after', 'beforeEach', 'afterEach', 'skip', 'only']
const waits = ['once', 'on', 'until', 'waitFor', 'waitForSelector', 'waitForFunction', 'waitForEvent']
const runsPrograms = ['execa', 'exec', 'execFile', 'execute', 'spawn', 'spawnSync', 'execFileSync']

/** @param source of a test in TypeScript */
export function timeLimits(source: string): Limit[] {
  const all = [...nodesOf(parseAst(source, {lang: 'ts'}) as unknown as Node)]
  const constants = new Map<string, number>()
  const measured = new Set<string>()

  /** The number that an expression is, if the file shows it. */
  const numberOf = (node: unknown): number | undefined => {
    if (!isNode(node)) return undefined
    if (node.type === 'Literal') return typeof node.value === 'number' ? node.value : undefined
    if (node.type === 'Identifier') return constants.get(nameOf(node))
    const [left, right] = [numberOf(node.left), numberOf(node.right)]
    if (left === undefined || right === undefined) return undefined
    if (node.operator === '*') return left * right
    if (node.operator === '/') return left / right
    if (node.operator === '+') return left + right
    return undefined
  }
  const isMeasured = (node: Node) =>
    some(
      node,
      (each) =>
        (each.type === 'Identifier' && measured.has(nameOf(each))) ||
        (each.type === 'BinaryExpression' && each.operator === '-' && some(each, isClock)),
    )

  const declared = all.filter(({type, id, init}) => type === 'VariableDeclarator' && isNode(init) && nameOf(id) !== '')
  for (const {id, init} of declared) {
    const value = numberOf(init)
    if (value !== undefined) constants.set(nameOf(id), value)
  }
  for (const {id, init} of declared) if (isNode(init) && isDuration(init)) measured.add(nameOf(id))
  for (const node of all) {
    if (node.type === 'AssignmentExpression' && isMeasured(node.right as Node)) measured.add(nameOf(node.left))
    if (isCall(node, 'push') && argumentsOf(node).some(isMeasured)) measured.add(nameOf((node.callee as Node).object))
  }

  /** Whether a value is a difference of times, and not, for example, a time in the past or a function that takes one. */
  function isDuration(node: Node): boolean {
    if (/Function/.test(node.type) || node.type === 'ObjectExpression' || node.type === 'ArrayExpression') return false
    return isMeasured(node)
  }

  const found = new Map<Node, Omit<Limit, 'line'>>()
  const add = (node: Node, value: unknown, min = minMs) => {
    const ms = numberOf(value)
    if (ms !== undefined && ms < min) found.set(node, {ms, min})
  }
  /** Adds the comparisons that are true only if a measured time is short, or long with `isLong`. */
  const addBounds = (condition: Node, isLong: boolean) => {
    for (const node of nodesOf(condition)) {
      if (node.type !== 'BinaryExpression') continue
      const operator = String(node.operator)
      if (!/^[<>]=?$/.test(operator)) continue
      const [small, large] = operator.startsWith('<') ? [node.left, node.right] : [node.right, node.left]
      const [time, bound] = isLong ? [large, small] : [small, large]
      if (isMeasured(time as Node)) add(node, bound)
    }
  }

  /** The longest time that a loop waits whose iterations are counted: `for (let i = 0; i < 100 && …; i++) await sleep(20)`. */
  const addPoll = (loop: Node) => {
    const {test, body} = loop as unknown as {test: Node | null; body: Node}
    if (test === null) return
    const ends = test.type === 'LogicalExpression' || some(body, ({type}) => /^(Return|Break)Statement$/.test(type))
    const count = [...nodesOf(test)].find(({type, operator}) => type === 'BinaryExpression' && operator === '<')
    const pause = [...nodesOf(body)].find((each) => isCall(each, 'sleep'))
    if (!ends || count === undefined || pause === undefined) return
    const [times, ms] = [numberOf(count.right), numberOf(argumentsOf(pause)[0])]
    if (times !== undefined && ms !== undefined && times * ms < minMs) found.set(loop, {ms: times * ms, min: minMs})
  }

  for (const node of all) {
    if (node.type === 'ForStatement') addPoll(node)
    if (node.type === 'IfStatement' && some(node.consequent as Node, isFailure)) addBounds(node.test as Node, true)
    if (node.type !== 'CallExpression') continue
    if (rootOf(node.callee) === 'assert') for (const argument of argumentsOf(node)) addBounds(argument, false)
    const [first, second] = argumentsOf(node)
    if (isCall(node, 'setTimeout') && first !== undefined && some(first, isFailure)) add(node, second)
    const isWait = isCall(node, ...waits)
    if (!isWait && !isCall(node, ...runsTests, ...runsPrograms)) continue
    for (const options of argumentsOf(node).filter(({type}) => type === 'ObjectExpression'))
      for (const {key, value} of options.properties as Node[]) {
        if (nameOf(key) === 'timeout') add(node, value, isCall(node, ...runsTests) ? minTestMs : minMs)
        if (isWait && nameOf(key) === 'signal' && isNode(value) && isCall(value, 'timeout'))
          add(node, argumentsOf(value)[0])
      }
  }
  return [...found].map(([{start}, limit]) => ({line: source.slice(0, start).split('\n').length, ...limit}))
}
