/**
 * Fault-injection campaign against a control plane. It starts a real server, injects a seeded plan of faults, and
 * checks the invariants of the mesh from the responses to its clients and the contents of the database. The oracles
 * share only the table of routes and roles with the server.
 *
 * Layers, lowest first: history, faults; server, proxy; clients; oracles; the campaign itself.
 */
export {type Focus, prove} from './campaign.js'
export type {RunEvent} from './history/history.js'
export type {Report} from './report.js'
export type {Launch} from './server/server.js'
