import type {Tier} from '../operations/index.js'
import type {ToolRegistry} from './registry.js'
import type {ResourceFeed} from './resources/feed.js'
import type {ToolHost} from './tool.js'

/** What every connection of a process shares. */
export interface ServerParts {
  registry: ToolRegistry
  /** Of the tools that are listed. */
  tiers: ReadonlySet<Tier>
  host: ToolHost
  feed: ResourceFeed
  /** How long a person may take to answer, ms. */
  askTimeoutMs: number
}
