/**
 * What all operations of a workspace share: the context with store, settings and listeners, the settings of the
 * orchestrator, and the words that tasks, agents and plans use.
 */
export {
  type Capabilities,
  hardCapabilities,
  mergeCapabilities,
  noCapabilities,
  parseCapabilities,
} from './capabilities.js'
export {type OrchestratorConfig, resolveOrchestratorConfig} from './config.js'
export {
  notify,
  type Scopes,
  type TaskChangeEvents,
  type TaskListener,
  type WorkflowHandoff,
  type WorkspaceContext,
} from './context.js'
export {matchesGlob} from './glob.js'
export {type AffinityGroup, catchAllGroup, groupOf} from './groups.js'
export type {HiddenChecks, HiddenFile, LoadedCheck} from './hidden-checks.js'
export {
  confidenceFormula,
  confidencePolicy,
  promptConfidence,
  promptCostShares,
  questioningPolicy,
  type SocratesThresholds,
  scanConfidence,
  strictConfidence,
  submissionConfidence,
} from './policy.js'
export {
  type AgentActivity,
  type BenchmarkTier,
  benchmarkTiers,
  type ExecutionRole,
  executionRoles,
  type PlacementReason,
  type Priority,
  type ProcessorName,
  parsePriority,
  priorities,
  processorNames,
  type TaskCategory,
  type TaskLabel,
  type TaskPhase,
  type TaskStatus,
  type TestDecision,
  taskCategories,
  taskPhases,
  taskStatuses,
  testDecisions,
} from './vocabulary.js'
