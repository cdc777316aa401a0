import {SvcError} from '../errors/index.js'

/** The enumerations of the orchestrator's wire format. Input is case-insensitive; output is spelled as here. */

/** Ordered from lowest to highest: a priority is stored as its index in this list. */
export const priorities = ['background', 'normal', 'urgent'] as const
export type Priority = (typeof priorities)[number]

/** @throws usage if the word is not a priority */
export function parsePriority(word: string): Priority {
  const found = priorities.find((priority) => priority === word.trim().toLowerCase())
  if (found !== undefined) return found
  throw new SvcError('usage', {
    reason: `${JSON.stringify(word)} is not a priority. Expected one of: ${priorities.join(', ')}.`,
  })
}

/** All stored states. A task held for a remote node is stored as `InProgress` and shown as `RemoteHold`. */
export const taskStatuses = [
  'Queued',
  'InProgress',
  'Blocked',
  'BlockedOnApproval',
  'Doubted',
  'Completed',
  'Failed',
  'Cancelled',
] as const
export type TaskStatus = (typeof taskStatuses)[number]
export type TaskLabel = TaskStatus | 'RemoteHold'

export const executionRoles = ['planner', 'builder', 'verifier', 'reproducer', 'researcher'] as const
export type ExecutionRole = (typeof executionRoles)[number]

export const taskCategories = [
  'general',
  'codegen',
  'testing',
  'debugging',
  'typechecking',
  'research',
  'parsing',
  'review',
  'planning',
  'interagent',
  'toolorchestration',
  'visual',
] as const
export type TaskCategory = (typeof taskCategories)[number]

/** The stages of an AI task, one streamed model call each. */
export const taskPhases = ['inspect', 'localize', 'hypothesize', 'act', 'verify', 'decide'] as const
export type TaskPhase = (typeof taskPhases)[number]

/** What runs a task: the inference server, a command template of the workspace, or an external client. */
export const processorNames = ['ai', 'exec', 'external'] as const
export type ProcessorName = (typeof processorNames)[number]

export const benchmarkTiers = ['issue_repair', 'subsystem_regen', 'module_regen', 'repo_regen'] as const
export type BenchmarkTier = (typeof benchmarkTiers)[number]

export const agentActivities = ['writing', 'reading', 'executing', 'thinking', 'waiting_for_input', 'idle'] as const
export type AgentActivity = (typeof agentActivities)[number]

/** Reasons for the placement of a task; other programs branch on these codes. */
export const placementReasons = [
  'local_queue_default',
  'populi_remote_lease_hold',
  'local_queue_fallback_after_remote_relay_error',
  'local_queue_fallback_insufficient_vram',
] as const
export type PlacementReason = (typeof placementReasons)[number]

/** Whether the work of a task should be tested. `deferred`: the files that it changes are not known yet. */
export const testDecisions = ['required', 'recommended', 'deferred', 'skip'] as const
export type TestDecision = (typeof testDecisions)[number]
