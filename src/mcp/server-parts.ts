import type {Tier} from '../operations/index.js'
import type {ToolRegistry} from './registry.js'
import type {ResourceFeed} from './resources/feed.js'
import type {BackgroundCalls} from './tasks/background.js'
import type {ToolHost} from './tool.js'

/** Shared by all connections of a process. */
export interface ServerParts {
  registry: ToolRegistry
  /** Tiers whose tools are listed. */
  tiers: ReadonlySet<Tier>
  host: ToolHost
  feed: ResourceFeed
  background: BackgroundCalls
  /** Timeout of a question to the user, ms. */
  askTimeoutMs: number
}
