import {nearest, SvcError} from '../errors/index.js'
import {operations, type Tier} from '../operations/index.js'
import {aliases} from './aliases.js'
import {operationTool} from './operation-tool.js'
import type {Tool} from './tool.js'

/** Every tool of a server, by name. */
export class ToolRegistry {
  readonly tools: readonly Tool[]
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #aliases: ReadonlyMap<string, string>

  /** @param others names that tools had before, and what they are called now */
  constructor(tools: readonly Tool[], others = aliases) {
    this.tools = tools
    this.#aliases = new Map(Object.entries(others))
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]))
  }

  /** A tool by its name, or by one that it had before; those that are not listed can be called as well. @throws unknown_tool */
  find(name: string): Tool {
    const found = this.#byName.get(this.#aliases.get(name) ?? name)
    if (found !== undefined) return found
    throw new SvcError('unknown_tool', {name, suggestion: nearest(name, [...this.#byName.keys()])})
  }

  listed(tiers: ReadonlySet<Tier>): readonly Tool[] {
    return this.tools.filter(({tier}) => tiers.has(tier))
  }
}

export const operationTools = (): Tool[] => operations.flatMap((operation) => operationTool(operation) ?? [])

const everyTier: readonly Tier[] = ['core', 'dev', 'advanced']

/** What `core,dev` or `all` stands for. */
export const tiersOf = (words: readonly (Tier | 'all')[]): ReadonlySet<Tier> =>
  new Set(words.flatMap((word) => (word === 'all' ? everyTier : [word])))
