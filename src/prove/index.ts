/**
 * Fault-injection campaign against a control plane, orchestrators and workers. It starts the real programs and injects
 * a seeded plan of faults. It checks the invariants of the mesh from the responses to its clients, the contents of the
 * databases and the side effects of the delegated tasks. The oracles share only the table of routes and roles with the
 * programs.
 *
 * Layers, lowest first: history, faults; server, proxy; clients; delegation; oracles; the campaign itself.
 */
export {type Focus, prove} from './campaign.js'
export type {DelegationOptions} from './delegation/peers.js'
export type {RunEvent} from './history/history.js'
export type {Report} from './report.js'
export type {Launch} from './server/program.js'
