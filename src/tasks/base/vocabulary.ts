import {SvcError} from '../../errors/index.js'

/**
 * The words of the orchestrator's wire, each list once. Input is taken in any case; output is as written here.
 */

/** Weakest first: a priority is stored as its place in this list. */
export const priorities = ['background', 'normal', 'urgent'] as const
export type Priority = (typeof priorities)[number]

/** @throws usage where the word is no priority */
export function parsePriority(word: string): Priority {
  const found = priorities.find((priority) => priority === word.trim().toLowerCase())
  if (found !== undefined) return found
  throw new SvcError('usage', {reason: `${JSON.stringify(word)} is no priority; there are ${priorities.join(', ')}.`})
}

/** Every state that is stored; a task held for a remote node is in progress and shown as `RemoteHold`. */
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

/** What runs a task: the inference server, a command template of the workspace, or a client that claims it. */
export const processorNames = ['ai', 'exec', 'external'] as const
export type ProcessorName = (typeof processorNames)[number]

export const benchmarkTiers = ['issue_repair', 'subsystem_regen', 'module_regen', 'repo_regen'] as const
export type BenchmarkTier = (typeof benchmarkTiers)[number]

export const agentActivities = ['writing', 'reading', 'executing', 'thinking', 'waiting_for_input', 'idle'] as const
export type AgentActivity = (typeof agentActivities)[number]

/** Why a task was placed where it is; other programs branch on these codes. */
export const placementReasons = [
  'local_queue_default',
  'populi_remote_lease_hold',
  'local_queue_fallback_after_remote_relay_error',
  'local_queue_fallback_insufficient_vram',
] as const
export type PlacementReason = (typeof placementReasons)[number]
