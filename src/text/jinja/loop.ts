import {TemplateError} from './budget.js'
import {isEqual} from './comparison.js'
import {Callable, Generator, iterate, PyObject, Undefined, type Value} from './values.js'

/** The variable `loop` of a `for` statement. */
export class Loop extends PyObject {
  readonly type = 'LoopContext'
  readonly #values: readonly Value[]
  readonly #depth: number
  #index = -1
  #last: readonly Value[] | undefined
  /** Runs the loop again for other values, if it is recursive. */
  readonly #recurse: ((values: Value) => Value) | undefined

  constructor(values: readonly Value[], depth: number, recurse: ((values: Value) => Value) | undefined) {
    super()
    this.#values = values
    this.#depth = depth
    this.#recurse = recurse
  }

  moveTo(index: number): void {
    this.#index = index
  }

  override attribute(name: string): Value | undefined {
    const {length} = this.#values
    const index = this.#index
    switch (name) {
      case 'index':
        return index + 1
      case 'index0':
        return index
      case 'revindex':
        return length - index
      case 'revindex0':
        return length - index - 1
      case 'first':
        return index === 0
      case 'last':
        return index === length - 1
      case 'length':
        return length
      case 'depth':
        return this.#depth + 1
      case 'depth0':
        return this.#depth
      case 'previtem':
        return this.#values[index - 1] ?? new Undefined('there is no previous item')
      case 'nextitem':
        return this.#values[index + 1] ?? new Undefined('there is no next item')
      case 'cycle':
        return new Callable('cycle', (args) => {
          if (args.length === 0) throw new TemplateError('no items for cycling given')
          return args[index % args.length] as Value
        })
      case 'changed':
        return new Callable('changed', (args) => {
          const isSame = this.#last !== undefined && isEqual([...this.#last], [...args])
          if (!isSame) this.#last = args
          return !isSame
        })
    }
    return undefined
  }

  call(args: readonly Value[]): Value {
    if (this.#recurse === undefined)
      throw new TemplateError("The loop must have the 'recursive' marker to be called recursively.")
    if (args.length !== 1) throw new TemplateError('loop() takes one argument')
    return this.#recurse(args[0] as Value)
  }

  override toText() {
    return `<LoopContext ${this.#index + 1}/${this.#values.length}>`
  }
}

/** The values of a loop; an iterator is consumed. */
export const loopValues = (value: Value): readonly Value[] =>
  Array.isArray(value) && !(value instanceof Generator) ? value : [...iterate(value)]
