import {Undefined, type Value} from './values.js'

/** Variables of a template or block; those of outer blocks are visible, but an assignment does not change them. */
export class Scope {
  readonly #parent: Scope | undefined
  #variables: Map<string, Value> | undefined
  constructor(parent?: Scope) {
    this.#parent = parent
  }
  find(name: string): Value {
    for (let scope: Scope | undefined = this; scope !== undefined; scope = scope.#parent) {
      const value = scope.#variables?.get(name)
      if (value !== undefined) return value
    }
    return new Undefined(`'${name}' is undefined`)
  }
  set(name: string, value: Value): void {
    this.#variables ??= new Map()
    this.#variables.set(name, value)
  }
}
