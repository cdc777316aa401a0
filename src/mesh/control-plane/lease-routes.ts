import {type LeaseList, maxLeasesListed} from '../protocol/lease.js'
import {readGrant, readHeld, readVerify} from '../protocol/lease-body.js'
import {requireNode} from './auth/caller.js'
import type {Handlers} from './route.js'

export const leaseRoutes: Handlers = {
  async exec_lease_grant({body, caller}, {store, scope}) {
    const {scope_key: scopeKey, claimer_node_id: claimer} = readGrant(body)
    requireNode(caller, claimer)
    const lease = await store.grantLease(scope, {scopeKey, claimer})
    // Lets clients compute the remaining duration without synchronised clocks.
    return JSON.stringify({...lease, server_time_unix_ms: store.now()})
  },

  async exec_lease_renew({body, caller}, {store, scope}) {
    const {lease_id: lease, claimer_node_id: claimer} = readHeld(body)
    requireNode(caller, claimer)
    await store.renewLease(scope, {lease, claimer})
    return undefined
  },

  async exec_lease_release({body, caller}, {store, scope}) {
    const {lease_id: lease, claimer_node_id: claimer} = readHeld(body)
    requireNode(caller, claimer)
    await store.releaseLease(scope, {lease, claimer})
    return undefined
  },

  async exec_lease_verify({body}, {store, scope}) {
    const {lease_id: lease, scope_key: scopeKey} = readVerify(body)
    return JSON.stringify(await store.verifyLease(scope, {lease, scopeKey}))
  },

  async exec_lease_list(_request, {store, scope}) {
    const leases = await store.listLeases(scope)
    const isCut = leases.length >= maxLeasesListed && (await store.counts(scope)).leases > leases.length
    const answer: LeaseList = {leases, ...(isCut ? {truncated: true} : {})}
    return JSON.stringify(answer)
  },
}
