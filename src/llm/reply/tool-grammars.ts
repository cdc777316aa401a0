import {deserialize, serialize} from 'node:v8'
import {SvcError} from '../../errors/index.js'
import {compileInSteps, type Grammar, LruCache, type ReadNested, type Steps} from '../../grammar/index.js'
import type {StoredTools} from '../prepared-format.js'
import type {Tool, ToolUse} from '../tools.js'
import {type ArgumentTexts, type CallFormat, markedFormat} from './call-format.js'
import {callFormat} from './call-formats.js'
import {marked} from './layout.js'

/** The tools that a reply may call. */
export const callableTools = ({tools, choice}: ToolUse): readonly Tool[] =>
  tools.filter(({name}) => typeof choice === 'string' || name === choice.name)

/** The grammar of the arguments of a tool, and the names of those that are plain text. @throws what `notation.grammar` throws */
function* argumentsGrammar({notation}: CallFormat, tool: Tool): Steps<{grammar: Grammar; texts: readonly string[]}> {
  const {expression, rules, texts = []} = yield* notation.grammar(tool, 'argument')
  return {grammar: {start: 'arguments', rules: new Map([...rules, ['arguments', expression]])}, texts}
}

export function storeTools(tools: readonly Tool[]): Uint8Array {
  const written = serialize(tools.map(({name, parameters, strict}) => ({name, parameters, strict})))
  const shared = new Uint8Array(new SharedArrayBuffer(written.length))
  shared.set(written)
  return shared
}

/** Reads the grammars of the arguments of tools, by their names. */
export function toolReader({format: formatName, specials, tools}: StoredTools): ReadNested {
  const format = markedFormat(callFormat(formatName), (tag) => marked(tag, specials))
  let known: ReadonlyMap<string, Tool> | undefined
  return function* (name) {
    known ??= new Map((deserialize(tools) as Tool[]).map((tool) => [tool.name, tool]))
    return (yield* argumentsGrammar(format, known.get(name) as Tool)).grammar
  }
}

/** Characters of the schemas of tools that have been checked and are kept. */
const maxCharacters = 16 << 20

/** Checks tools. The results are kept, because clients send the same tools again. */
export class ToolChecks {
  readonly #texts = new LruCache<readonly string[]>(maxCharacters);

  /**
   * Checks that the arguments of tools can be enforced.
   * @param check called for each tool
   * @returns the arguments of each tool that are written as plain text
   * @throws what `formatGrammar` and `compileGrammar` throw, with the field of the tool
   */
  *of(format: CallFormat, tools: readonly Tool[], check?: () => void): Steps<ArgumentTexts> {
    const texts: Record<string, readonly string[]> = {}
    for (const tool of tools) {
      check?.()
      try {
        texts[tool.name] = yield* this.#check(format, tool)
      } catch (error) {
        if (tool.field === undefined || !(error instanceof SvcError)) throw error
        const {code, params, stack} = error.toRecord()
        throw SvcError.fromRecord({code, params: {...params, field: tool.field}, stack})
      }
    }
    return texts
  }

  *#check(format: CallFormat, tool: Tool): Steps<readonly string[]> {
    const key = JSON.stringify([format.name, tool.strict === true, tool.parameters])
    let texts = this.#texts.get(key)
    if (texts === undefined) {
      const read = yield* argumentsGrammar(format, tool)
      yield* compileInSteps(read.grammar)
      texts = read.texts
    }
    this.#texts.set(key, texts, key.length)
    return texts
  }
}
