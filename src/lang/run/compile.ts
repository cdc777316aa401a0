import {type Chain, type FunctionType, type Ir, visit} from '../check/index.js'
import {planChain} from '../plan/index.js'
import {compileControl} from './control.js'
import {expressions} from './expressions.js'
import {
  type Compiling,
  type Eval,
  type Exec,
  type Frame,
  type Handler,
  jumps,
  returned,
  storeOf,
  type Use,
} from './frame.js'
import {type Operation, operation} from './operation.js'

/**
 * Compiles the checked tree to closures: each node becomes a function selected at compile time, so that running a
 * program needs no lookups.
 */
export class Compiler implements Compiling {
  readonly #topics: ReadonlyMap<string, readonly string[]>
  readonly #compiled = new Map<FunctionType, Handler>()

  constructor(topics: ReadonlyMap<string, readonly string[]>) {
    this.#topics = topics
  }

  handler(target: FunctionType): Handler {
    const known = this.#compiled.get(target)
    if (known !== undefined) return known
    let body: Handler | undefined
    // Compiled on the first call, because functions can be mutually recursive.
    const handler: Handler = (context, args) => {
      body ??= this.#function(target)
      return body(context, args)
    }
    this.#compiled.set(target, handler)
    return handler
  }

  #function({body, params, slots: count, result}: FunctionType): Handler {
    const run = this.control(body as Ir, 'return')
    const variables = params.map(({binding, fallback}) => ({
      store: storeOf(binding),
      fallback: fallback === undefined ? undefined : this.value(fallback),
    }))
    const returnsNothing = result.kind === 'unit'
    return (context, args) => {
      context.enter()
      const frame: Frame = {slots: new Array(count), result: undefined, context}
      for (let i = 0; i < variables.length; i++) {
        const {store, fallback} = variables[i] as (typeof variables)[number]
        const arg = i < args.length ? args[i] : undefined
        store(frame, arg === undefined && fallback !== undefined ? fallback(frame) : arg)
      }
      try {
        run(frame)
      } catch (thrown) {
        if (thrown !== jumps[returned]) throw thrown
      } finally {
        context.leave()
      }
      return returnsNothing ? undefined : frame.result
    }
  }

  value(ir: Ir): Eval {
    return visit(ir, expressions, this)
  }

  control(ir: Ir, use: Use): Exec {
    return compileControl(ir, {c: this, use})
  }

  operation(chain: Chain): Operation<Frame> {
    return operation(planChain(chain), this.#topics.get(chain.table.name) ?? [], ({value}) => this.value(value))
  }
}
