/**
 * The fault-injection campaign against a control plane: it runs a real one, injects the faults of a plan that a seed
 * gives, and judges by what its clients saw and its file holds whether the invariants of a mesh held. The oracles share
 * no code with the server but the table of its routes and roles.
 *
 * Layers of the folders, the lowest first: history, faults; server, proxy; clients; oracles; the campaign itself.
 */
export {type Focus, prove} from './campaign.js'
export type {RunEvent} from './history/history.js'
export type {Report} from './report.js'
export type {Launch} from './server/server.js'
