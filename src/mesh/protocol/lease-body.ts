import {bodyOf, must} from './member.js'
import {leaseId, nodeId, scopeKey} from './types.js'

const held = {lease_id: must(leaseId), claimer_node_id: must(nodeId)}

/** @throws invalid_json, missing_field, scope_key_too_long */
export const readGrant = bodyOf({scope_key: must(scopeKey), claimer_node_id: must(nodeId)})

/** Body of a renewal or release. @throws invalid_json, missing_field */
export const readHeld = bodyOf(held)

/** @throws invalid_json, missing_field, scope_key_too_long */
export const readVerify = bodyOf({lease_id: held.lease_id, scope_key: must(scopeKey)})

/** @throws invalid_json, missing_field */
export const readRevoke = bodyOf({lease_id: held.lease_id})
