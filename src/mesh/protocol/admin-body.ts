import {maxSkippedTokens, minSkippedTokens} from './lease.js'
import {bodyOf, must} from './member.js'
import {flag, integer, nodeId, text} from './types.js'

/** @throws invalid_json, missing_field */
export const readQuarantine = bodyOf({node_id: must(nodeId), quarantined: must(flag)})

/** @throws invalid_json, missing_field */
export const readMaintenance = bodyOf({
  node_id: must(nodeId),
  maintenance: must(flag),
  maintenance_until_unix_ms: integer(),
  maintenance_for_ms: integer(),
})

/** @throws invalid_json, missing_field */
export const readPromotion = bodyOf({skip_tokens: must(integer(minSkippedTokens, maxSkippedTokens))})

/** Body of a bootstrap exchange; all members are optional. @throws invalid_json, missing_field */
export const readExchange = bodyOf({bootstrap_token: text, node_id: nodeId})
