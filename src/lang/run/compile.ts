import {type Chain, type FunctionType, type Ir, kindOf, visit} from '../check/index.js'
import {planChain} from '../plan/index.js'
import {type Context, Waiting} from './context.js'
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
import {Err, type Value} from './value.js'

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
    const isMutation = kindOf(target) === 'mutation'
    // Compiled on the first call, because functions can be mutually recursive.
    const handler: Handler = (context, args) => {
      body ??= this.#function(target)
      return isMutation && context.isTest ? asRequest(target, body, context, args) : body(context, args)
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
    return operation(planChain(chain), this.#topics, ({value}) => this.value(value))
  }
}

/** Runs a mutation that a test calls as a request does: an Error undoes its changes. */
function asRequest({result}: FunctionType, run: Handler, context: Context, args: readonly Value[]): Value {
  const {connection} = context
  let isUndone = true
  context.isTest = false
  connection.savepoint()
  try {
    const value = run(context, args)
    isUndone = value instanceof Err && result.kind !== 'option'
    return value
  } catch (thrown) {
    // The test runs again after a transcription, and does not repeat what it has written.
    isUndone = !(thrown instanceof Waiting)
    throw thrown
  } finally {
    connection.release(isUndone)
    context.isTest = true
  }
}
