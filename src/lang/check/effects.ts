import type {Diagnostics, Span} from '../diagnostics/index.js'
import type {Effect, FunctionType} from './ir.js'

/** How a function reaches an effect: the calls on the path, then the operation. */
interface Path {
  effect: Effect
  calls: readonly string[]
}

/** The nearest write of each function, direct or through its calls, with the path to it. */
export class Effects {
  readonly #writes = new Map<FunctionType, Path | undefined>()

  /** The nearest write that a function reaches. */
  write(of: FunctionType): Path | undefined {
    if (this.#writes.has(of)) return this.#writes.get(of)
    const found = isPure(of) ? undefined : this.#search(of)
    this.#writes.set(of, found)
    return found
  }

  /** Breadth-first, so that the shortest path is reported and deep or cyclic call graphs terminate. */
  #search(start: FunctionType): Path | undefined {
    const queue: {at: FunctionType; calls: readonly string[]}[] = [{at: start, calls: []}]
    const seen = new Set([start])
    for (const {at, calls} of queue) {
      const effect = at.effects.find(({kind}) => kind === 'write')
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

/** Whether a call waits for anything outside the program. */
export const waits = (start: FunctionType): boolean =>
  [...reachable(start)].some(({effects}) => effects.some(({kind}) => kind === 'speech'))

export const usesDatabase = (start: FunctionType): boolean =>
  [...reachable(start)].some(({effects}) => effects.some(({kind}) => kind !== 'speech'))

/** Whether a function only reads, and calls no other. */
export const isPure = ({effects, calls}: FunctionType): boolean =>
  calls.length === 0 && effects.every(({kind}) => kind === 'read')

/** Reports effects that queries, mutations and routes must not or should not have. */
export function checkEffects(functions: readonly FunctionType[], diagnostics: Diagnostics): void {
  const effects = new Effects()
  for (const made of functions) {
    const {decl} = made
    if (decl.kind === 'http') {
      if (decl.method === 'get') checkGetRoute(made, decl.path, effects, diagnostics)
    } else if (decl.endpoint === 'query') checkQuery(made, effects, diagnostics)
    else if (decl.endpoint === 'mutation') checkMutation(made, diagnostics)
  }
}

/** The maximum number of calls shown in a message. */
const maxCalls = 8
const shortened = (calls: readonly string[]) => (calls.length > maxCalls ? [...calls.slice(0, maxCalls), '…'] : calls)

/** Each write in a body, and each call that reaches one. */
function* writePlaces(made: FunctionType, effects: Effects): Generator<{span: Span; what: string; path: string}> {
  for (const {kind, what, span} of made.effects) if (kind === 'write') yield {span, what, path: ''}
  const reported = new Set<number>()
  for (const {target, span} of made.calls) {
    const path = effects.write(target)
    if (path === undefined || reported.has(span.start)) continue
    reported.add(span.start)
    yield {span, what: path.effect.what, path: shortened([target.name, ...path.calls]).join('() -> ')}
  }
}

function checkQuery(made: FunctionType, effects: Effects, diagnostics: Diagnostics): void {
  for (const {span, what, path} of writePlaces(made, effects)) {
    const reached = path === '' ? `${what} is not allowed here` : `${path}() reaches ${what}, which is not allowed here`
    diagnostics.report(
      'lint.query_not_readonly',
      span,
      `Query endpoint '${made.name}' must only read; ${reached}. Move it to @endpoint(kind: mutation).`,
    )
  }
}

function checkGetRoute(made: FunctionType, route: Span, effects: Effects, diagnostics: Diagnostics): void {
  const places = [...writePlaces(made, effects)]
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
