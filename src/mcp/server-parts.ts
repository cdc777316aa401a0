import type {Tier} from '../operations/index.js'
import type {PromptRow} from './prompts.js'
import type {ToolRegistry} from './registry.js'
import type {ResourceFeed} from './resources/feed.js'
import type {FixedResource} from './resources/fixed.js'
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
  /** Prompts in addition to those of a workspace. */
  prompts?: readonly PromptRow[]
  /** Resources in addition to those of a workspace, with another scheme. */
  resources?: readonly FixedResource[]
  /** Timeout of a question to the user, ms. */
  askTimeoutMs: number
}
