import {isReadRoleEligible} from '../../src/mcp/list-tool.js'
import {operationTools} from '../../src/mcp/registry.js'
import type {Lane, Tier} from '../../src/operations/index.js'

/** Tool registry in the format of the contract `mcp/tool-registry.v1`. */
export interface RegistryDocument {
  version: 1
  tools: {
    name: string
    description: string
    product_lane: Lane
    tier: Tier
    read_only: boolean
    http_read_role_eligible?: true
  }[]
}

export const registryDocument = (): RegistryDocument => ({
  version: 1,
  tools: operationTools().map(({name, tier, lane, listed}) => ({
    name,
    description: listed.description,
    product_lane: lane,
    tier,
    read_only: listed.annotations.readOnlyHint,
    ...(isReadRoleEligible({listed, lane}) ? {http_read_role_eligible: true} : {}),
  })),
})
