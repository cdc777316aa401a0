import {nearest, SvcError} from '../errors/index.js'
import {operations, type Tier} from '../operations/index.js'
import {aliases} from './aliases.js'
import {operationTool} from './operation-tool.js'
import type {Tool} from './tool.js'

/** All tools of a server, by name. */
export class ToolRegistry {
  readonly tools: readonly Tool[]
  readonly #byName: ReadonlyMap<string, Tool>
  readonly #aliases: ReadonlyMap<string, string>

  /** @param formerNames former tool names and their current names */
  constructor(tools: readonly Tool[], formerNames = aliases) {
    this.tools = tools
    this.#aliases = new Map(Object.entries(formerNames))
    this.#byName = new Map(tools.map((tool) => [tool.name, tool]))
  }

  /** Finds a tool of any tier by its current or former name. @throws unknown_tool */
  find(name: string): Tool {
    const found = this.#byName.get(this.#aliases.get(name) ?? name)
    if (found !== undefined) return found
    throw new SvcError('unknown_tool', {name, suggestion: nearest(name, [...this.#byName.keys()])})
  }

  listed(tiers: ReadonlySet<Tier>): readonly Tool[] {
    return this.tools.filter(({tier, isGrouped}) => tiers.has(tier) && isGrouped !== true)
  }
}

export const operationTools = (): Tool[] => operations.flatMap((operation) => operationTool(operation) ?? [])

const everyTier: readonly Tier[] = ['core', 'dev', 'advanced']

/** Expands `all` to every tier. */
export const tiersOf = (words: readonly (Tier | 'all')[]): ReadonlySet<Tier> =>
  new Set(words.flatMap((word) => (word === 'all' ? everyTier : [word])))
