import type {Lane, Tier} from '../operations/index.js'
import type {ListedTool, Tool} from './tool.js'

/** Place of a tool in the registry, for clients that group or filter tools. */
export interface ToolMeta {
  svc_product_lane: Lane
  svc_tier: Tier
  /** Only present if a read-only client of the HTTP transport may call the tool. */
  svc_http_read_role_eligible?: true
}

/** Entry of `tools/list`. */
export const listTool = (tool: Tool): ListedTool & {_meta: ToolMeta} => ({
  ...tool.listed,
  _meta: {
    svc_product_lane: tool.lane,
    svc_tier: tool.tier,
    ...(isReadRoleEligible(tool) ? {svc_http_read_role_eligible: true} : {}),
  },
})

/** True for tools that only read the state of the workspace. Tools of the lane `ai` read chats, or run a model. */
export const isReadRoleEligible = ({listed, lane}: Pick<Tool, 'listed' | 'lane'>): boolean =>
  listed.annotations.readOnlyHint && lane !== 'ai'
