import type {Diagnostics, Span} from '../diagnostics/index.js'
import type {Effect, FunctionType} from './ir.js'

/** How a function reaches an effect: the calls on the path, then the operation. */
interface Path {
  effect: Effect
  calls: readonly string[]
}

/** The nearest effect of one kind of each function, direct or through its calls, with the path to it. */
export class Effects {
  readonly kind: Effect['kind']
  readonly #found = new Map<FunctionType, Path | undefined>()

  constructor(kind: Effect['kind']) {
    this.kind = kind
  }

  /** The nearest effect that a function reaches. */
  nearest(of: FunctionType): Path | undefined {
    if (this.#found.has(of)) return this.#found.get(of)
    const found = this.#isAbsent(of) ? undefined : this.#search(of)
    this.#found.set(of, found)
    return found
  }

  #isAbsent({effects, calls}: FunctionType): boolean {
    return calls.length === 0 && effects.every(({kind}) => kind !== this.kind)
  }

  /** Breadth-first, so that the shortest path is reported and deep or cyclic call graphs terminate. */
  #search(start: FunctionType): Path | undefined {
    const queue: {at: FunctionType; calls: readonly string[]}[] = [{at: start, calls: []}]
    const seen = new Set([start])
    for (const {at, calls} of queue) {
      const effect = at.effects.find(({kind}) => kind === this.kind)
      if (effect !== undefined) return {effect, calls}
      for (const {target} of at.calls) {
        if (seen.has(target)) continue
        seen.add(target)
        queue.push({at: target, calls: calls.length < maxCalls ? [...calls, target.name] : calls})
      }
    }
    return undefined
  }
}

/** Every function that a call of this one may run, including itself. */
export function reachable(start: FunctionType): ReadonlySet<FunctionType> {
  const found = new Set([start])
  for (const at of found) for (const {target} of at.calls) found.add(target)
  return found
}

const reaches = (start: FunctionType, one: Effect['kind'], other: Effect['kind']): boolean =>
  [...reachable(start)].some(({effects}) => effects.some(({kind}) => kind === one || kind === other))

/** Whether a call waits for anything outside the interpreter. */
export const waits = (start: FunctionType): boolean => reaches(start, 'speech', 'hash')

export const usesDatabase = (start: FunctionType): boolean => reaches(start, 'read', 'write')

/** Whether a function only reads, and calls no other. */
export const isPure = ({effects, calls}: FunctionType): boolean =>
  calls.length === 0 && effects.every(({kind}) => kind === 'read')

/** Reports effects that queries, mutations and routes must not or should not have. */
export function checkEffects(functions: readonly FunctionType[], diagnostics: Diagnostics): void {
  const [writes, randoms] = [new Effects('write'), new Effects('random')]
  for (const made of functions) {
    const {decl} = made
    if (decl.kind === 'http') {
      if (decl.method === 'get') checkGetRoute(made, decl.path, writes, diagnostics)
    } else if (decl.endpoint === 'query') checkQuery(made, writes, randoms, diagnostics)
    else if (decl.endpoint === 'mutation') checkMutation(made, diagnostics)
  }
}

/** The maximum number of calls shown in a message. */
const maxCalls = 8
const shortened = (calls: readonly string[]) => (calls.length > maxCalls ? [...calls.slice(0, maxCalls), '…'] : calls)

/** Each effect in a body, and each call that reaches one. */
function* placesOf(made: FunctionType, effects: Effects): Generator<{span: Span; what: string; path: string}> {
  for (const {kind, what, span} of made.effects) if (kind === effects.kind) yield {span, what, path: ''}
  const reported = new Set<number>()
  for (const {target, span} of made.calls) {
    const path = effects.nearest(target)
    if (path === undefined || reported.has(span.start)) continue
    reported.add(span.start)
    yield {span, what: path.effect.what, path: shortened([target.name, ...path.calls]).join('() -> ')}
  }
}

function checkQuery(made: FunctionType, writes: Effects, randoms: Effects, diagnostics: Diagnostics): void {
  for (const {span, what, path} of placesOf(made, writes)) {
    const reached = path === '' ? `${what} is not allowed here` : `${path}() reaches ${what}, which is not allowed here`
    diagnostics.report(
      'lint.query_not_readonly',
      span,
      `Query endpoint '${made.name}' must only read; ${reached}. Move it to @endpoint(kind: mutation).`,
    )
  }
  for (const {span, what, path} of placesOf(made, randoms)) {
    const reached = path === '' ? `${what} is` : `${path}() reaches ${what}, which is`
    diagnostics.report('lint.query_random', span, `The same query must have the same result; ${reached} random.`, {
      hints: ['Use it in an endpoint of kind mutation or server.'],
    })
  }
}

function checkGetRoute(made: FunctionType, route: Span, effects: Effects, diagnostics: Diagnostics): void {
  const places = [...placesOf(made, effects)]
  const [first] = places
  if (first === undefined) return
  const {what, path} = first
  diagnostics.report(
    'lint.http_get_writes',
    route,
    `http get should only read; ${path === '' ? what : `${path}() -> ${what}`} writes. Browsers and proxies repeat GET requests.`,
    {related: places.map(({span}) => ({...span, message: 'database write'}))},
  )
}

function checkMutation(made: FunctionType, diagnostics: Diagnostics): void {
  for (const {kind, span} of made.effects)
    if (kind === 'speech')
      diagnostics.report(
        'lint.speech_in_mutation',
        span,
        'Speech.transcribe in a mutation locks the database during the transcription.',
        {
          hints: ['Transcribe in a server endpoint, and pass the text to the mutation.'],
        },
      )
}

/** The names of the built-in functions that a tree calls. */
export function builtinsOf(tree: unknown, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(tree)) for (const item of tree) builtinsOf(item, found)
  else if (typeof tree === 'object' && tree !== null) {
    const {kind, name} = tree as {kind?: unknown; name?: unknown}
    if (kind === 'builtin' && typeof name === 'string') found.add(name)
    // Types, bindings and called functions refer to each other and contain no calls of their own.
    for (const [key, member] of Object.entries(tree)) if (!references.has(key)) builtinsOf(member, found)
  }
  return found
}

const references: ReadonlySet<string> = new Set(['type', 'binding', 'params', 'target', 'span'])
