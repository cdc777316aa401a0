/**
 * Proves a control plane: runs a real one, breaks what it runs on by a plan that a seed gives, and judges by what its
 * clients saw and its file holds whether it kept its promises. Nothing of the judgement is code of the server.
 */
export type {RunEvent} from './history.js'
export type {Focus, ProveOptions} from './prove.js'
export type {Outcomes, Report, Verdict} from './report.js'
export type {ServerFault} from './schedule.js'
export type {Launch, ServerPlace} from './server/server.js'
export {prove} from './start.js'
