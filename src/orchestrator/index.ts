/**
 * Opens the modules of a workspace on one store: settings and their reload, the operation log, and the status report.
 */

export * as delegation from '../delegation/index.js'
export * as journeys from '../journeys/index.js'
export * as messages from '../messages/index.js'
export * as plans from '../plans/index.js'
export * as scheduler from '../scheduler/index.js'
export * as sessions from '../sessions/index.js'
export * as tasks from '../tasks/index.js'
export * as telemetry from '../telemetry/index.js'
export * as workflows from '../workflow/index.js'
export * as workspace from '../workspace/index.js'
export {type MeshSnapshot, meshSnapshot} from './mesh-snapshot.js'
export {type Orchestrator, openOrchestrator, storeDatabase, storePath} from './open.js'
export type {LoggedOperation} from './operation-log/operation.js'
export {listOperations} from './operation-log/operation-rows.js'
export {reorderTask, setPaused, spawnAgent} from './operation-log/recorded.js'
export {redoOperation, undoOperation} from './operation-log/undo.js'
export {announceReload, type Reload, reloadConfig, rereadSources} from './reload.js'
export {reportStatus, type StatusReport} from './status-report.js'
export {type WorkspaceJourney, workspaceJourney} from './workspace-journey.js'
