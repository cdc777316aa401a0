/**
 * The tasks of a workspace: rows, statuses, events, locks, agents, routing and completion gates. The store is the single
 * source of truth: every operation is one transaction, with or without a daemon. Other modules act on changes through
 * listeners.
 */
export {type AgentRow, agentRows, listAgents, requireAgent, toAgent, withAgentModel} from './agents/agent-rows.js'
export {agentBudgets, chargeAgent} from './agents/budget.js'
export {mapSession, type Spawn, setPaused, spawnAgent, workingAgent} from './agents/spawn.js'
export {attentionBudget, attentionHistory, requireAttention, resetAttention} from './attention/budget.js'
export type {InterruptionDecision, InterruptionSignals} from './attention/decide.js'
export {
  chargeAnswer,
  considerInterruption,
  isInterruption,
  isPersonNeeded,
  type QuestionSubject,
} from './attention/interrupt.js'
export type {Submitter} from './attention/review.js'
export {submitSignals} from './attention/submit-signals.js'
export type {Agent} from './base/agent.js'
export {runningDaemon} from './base/daemon-lease.js'
export type {Finding} from './base/finding.js'
export {displayAgent, displayTask, matchId, parseTaskId, questionOfReason} from './base/ids.js'
export {canDelegate} from './base/may-delegate.js'
export {continueTasks} from './base/restored.js'
export {orchestratorFragment} from './base/schema.js'
export {readState, writeState} from './base/state.js'
export {keptRepository} from './base/store-repository.js'
export type {Task} from './base/task.js'
export type {Completion, Judged} from './completion/judgement.js'
export {taskEvidence, taskInDetail, taskWithPlan} from './completion/task-evidence.js'
export {verifyTask} from './completion/verify.js'
export {getContext, listContext, reportContext, setContext} from './context/context-store.js'
export {evidenceOfSession, taskEnvelope} from './context/evidence-context.js'
export {DaemonLease, takeLease} from './daemon/lease.js'
export {awardsOf} from './events/awards.js'
export {emitCost, type Usage} from './events/cost.js'
export type {EventRecord, EventType, OrchestratorEvent} from './events/event.js'
export {appendEvent, type EventFilter, followEvents, lastEventId, readEvents, resumeEvents} from './events/event-log.js'
export {isLogged} from './events/level.js'
export {appendLineage, appendPlanLineage, linkLineage} from './events/lineage.js'
export {type Judgement, judgeEvidence} from './gates/judge-evidence.js'
export {type Handoff, handoffTask} from './handoff/handoff.js'
export {HiddenRuns} from './hidden/hidden-runs.js'
export {cancelRow} from './lifecycle/cancel.js'
export {approveTask, localUser, reorderTask, retryTask} from './lifecycle/change.js'
export {renewClaim, runLimit, takeClaim} from './lifecycle/claim.js'
export {batchOrder} from './lifecycle/dependencies.js'
export {doubtTask, overruleDoubt, resolveDoubt} from './lifecycle/doubt.js'
export {emergencyStop, emergencyStopOf, startOrchestrator} from './lifecycle/emergency-stop.js'
export {cancelTask, failTask} from './lifecycle/finish.js'
export {cancelTasks, retryTasks} from './lifecycle/many.js'
export {readOutput} from './lifecycle/output.js'
export {type FinishedStatus, finishedStatuses, pruneTasks} from './lifecycle/prune.js'
export {type RelatedTasks, relatedTasks} from './lifecycle/related-tasks.js'
export {replayRoutes} from './lifecycle/replay-routes.js'
export {drainAgent, retireAgent} from './lifecycle/retire-agent.js'
export {
  listTaskIds,
  listTasks,
  requireRow,
  requireTask,
  type TaskFilter,
  type TaskRequest,
  type TaskRow,
  taskWithUid,
} from './lifecycle/task-rows.js'
export {recordRoutingDecision} from './models/routing-decision.js'
export {askAsAgent, chatQuestioning} from './questions/agent-question.js'
export {type AnswerRequest, answerQuestion, requireNoQuestion} from './questions/answer-question.js'
export {askQuestion, type QuestionRequest} from './questions/ask-question.js'
export {closeQuestions} from './questions/close-questions.js'
export {pendingQuestions, type Question} from './questions/question-rows.js'
export type {Questioning} from './questions/questioning.js'
export {isGpuSchedulable, type RemoteHint} from './routing/remote.js'
export {reasonWithoutMemory} from './routing/remote-memory.js'
export {deleteNodePoll, federationCache, remoteNodes, writeNodePoll} from './routing/remote-nodes.js'
export {claimTask} from './run/claim-task.js'
export {completeTask} from './run/complete-task.js'
export {recoverRuns} from './run/recover-runs.js'
export {continueRemoteRun, type RemoteRun, startRemoteRuns} from './run/remote-run.js'
export {lostRuns, startRuns} from './run/start-runs.js'
export {TaskRun} from './run/task-run.js'
export {scanText} from './scan/scan-text.js'
export {normaliseManifest, normalisePath} from './submission/manifest.js'
export {maxLengths, readSubmission} from './submission/submission.js'
export {type Accepted, requireEnabled, submitBatch, submitTask, taskOfBatch} from './submission/submit.js'
export {submitGraph, type TaskGraph} from './submission/task-graph.js'
export {decideTests, testDecisionOf} from './submission/test-decision.js'
export {
  type AgentLoad,
  agentLoads,
  moveWaitingTask,
  type QueuedTask,
  refreshAgentLoads,
  sumOfLoads,
  waitingTasks,
} from './upkeep/agent-loads.js'
export {readWorkspace} from './upkeep/read-workspace.js'
export {watchAgents} from './upkeep/staleness.js'
export {taskListeners} from './upkeep/task-listeners.js'
export {pruneRecords, releaseAbandoned} from './upkeep/upkeep.js'
