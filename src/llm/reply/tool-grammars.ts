import {LruCache, type Steps} from '../../grammar/index.js'
import type {Tool} from '../tools.js'
import type {ArgumentsGrammar, CallFormat} from './call-format.js'

/** Maximum rules of the grammars that are kept. A rule takes about a kilobyte. */
const mostRules = 50_000

/** The grammars of the arguments of tools. They are kept, because clients send the same tools again, also among others. */
export class ToolGrammars {
  readonly #grammars = new LruCache<ArgumentsGrammar>(mostRules)
  #read = 0;

  /** @throws what `notation.grammar` throws */
  *of({name, notation}: Pick<CallFormat, 'name' | 'notation'>, tool: Tool): Steps<ArgumentsGrammar> {
    const key = JSON.stringify([name, tool.strict === true, tool.parameters])
    const grammar = this.#grammars.get(key) ?? (yield* notation.grammar(tool, `tool ${this.#read++}`))
    this.#grammars.set(key, grammar, grammar.rules.size)
    return grammar
  }
}
