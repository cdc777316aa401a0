/**
 * Durable workflows: definitions in YAML, runs in five tables, an interpreter that reuses recorded results, a journal,
 * and a runner that continues interrupted runs. `definition` knows files, `store` tables, `activities` what a step
 * does, `engine` how a run continues.
 */
export type {ActivityPorts, MeshAccess, ProgramLine} from './activities/executor.js'
export type {InputType, Step, Workflow} from './definition/definition.js'
export type {Driven, DriveOptions} from './engine/drive.js'
export type {Replay} from './engine/replay.js'
export type {WorkflowRunner} from './engine/runner.js'
export type {ScheduleList, ScheduleSummary} from './engine/schedules.js'
export type {WaitingFor} from './engine/waits.js'
export {handOffGoal} from './hand-off.js'
export {type RunEntry, runEntries} from './journal.js'
export {workflowListener} from './listener.js'
export {type ActivityReport, listRuns, type RunReport, type RunSummary, runReport} from './report.js'
export type {OutputPaths} from './store/activities.js'
export {removeOrphanedOutput} from './store/output-files.js'
export {hasEndedForGood, pruneRuns, type RunRow, requireRun, runStatuses} from './store/runs.js'
export {workflowFragment} from './store/schema.js'
export {sendSignal} from './store/signals.js'

/** Loads what reads workflow files and continues runs. */
export const loadWorkflows = () => import('./engine/index.js')
