import type {Span} from '../diagnostics/index.js'
import type {Binding, ParamType} from './ir.js'
import {show, type Type} from './types.js'

/** The variables in scope, innermost last, and the number of slots allocated so far. */
export class Scope {
  readonly #bindings: Binding[]
  #slots: number
  #lambdas = 0

  /** @param params the bindings of the parameters, whose slots are the first */
  constructor(params: readonly ParamType[]) {
    this.#bindings = params.map(({binding}) => binding)
    this.#slots = params.length
  }

  get slots(): number {
    return this.#slots
  }

  /** The position to restore when a block ends. */
  get mark(): number {
    return this.#bindings.length
  }

  leave(mark: number): void {
    this.#bindings.length = mark
  }

  bind(name: string, type: Type, span: Span, mutable = false): Binding {
    const binding = {name, type, slot: this.#slots++, mutable, lambdas: this.#lambdas, boxed: false, span}
    this.#bindings.push(binding)
    return binding
  }

  find(name: string): Binding | undefined {
    for (let i = this.#bindings.length - 1; i >= 0; i--) {
      const binding = this.#bindings[i] as Binding
      if (binding.name !== name) continue
      if (binding.mutable && binding.lambdas < this.#lambdas) binding.boxed = true
      return binding
    }
    return undefined
  }

  inLambda<R>(run: () => R): R {
    this.#lambdas++
    const result = run()
    this.#lambdas--
    return result
  }

  names(): string[] {
    return this.#bindings.map(({name}) => name)
  }
}

/** `let mut total: int` */
export const describeBinding = ({name, type, mutable}: Binding): string =>
  `${mutable ? 'let mut ' : ''}${name}: ${show(type)}`
