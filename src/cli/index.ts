/** The shared parts of all commands: life cycle, flags, input, output and exit status. */

export {AdapterCommand, adminFlags} from './adapter-command.js'
export {formatAnswer} from './ask-text.js'
export {audioTrackFlag, trackOptions} from './audio-track-flag.js'
export {BenchCommand} from './bench-command.js'
export {cacheEntryRow, formatCache} from './cache-text.js'
export {age} from './cell-text.js'
export {holdChat} from './chat-session.js'
export {
  adviceOf,
  type Check,
  type CheckFinding,
  checkCache,
  checkDecoders,
  checkEngine,
  checkFfmpeg,
  formatFindings,
  mayCreate,
  runCheck,
} from './checks.js'
export {SvcCommand} from './command.js'
export {completionScripts, completionSetup, type Shell} from './completion/index.js'
export {formatContracts} from './contracts-text.js'
export {type Conversation, openConversation, unpolished} from './conversation.js'
export {DatabaseFileCommand, databaseFileFlags} from './database-file.js'
export {
  DbCommand,
  databaseFlag,
  formatReport,
  formatSteps,
  onlyProgramFlag,
  programArg,
  programFlag,
  programsArg,
  type Source,
  storeFlag,
  waitFlag,
} from './db-command.js'
export {formatEval, formatEvalHistory} from './eval-text.js'
export {type EventLog, openEventLog} from './event-log.js'
export {describeEvent, eventLine, eventTypes} from './event-text.js'
export {formatCodes, formatExplanation, formatGroups} from './explain-text.js'
export {inGroup} from './flag-groups.js'
export {followOutput} from './follow-output.js'
export {refuseForeign} from './foreign-flags.js'
export {HubCommand} from './hub-command.js'
export {fileOrInput, inputChunks, readInput, readTextInput, recordingInput} from './input.js'
export {stopped} from './interruption.js'
export {formatJourney} from './journey-text.js'
export {chooseLanguageModel, guideFolder} from './language-model.js'
export {LanguageModelCommand, replyFlags} from './language-model-command.js'
export {LineHistory} from './line-history.js'
export {LineReader} from './line-reader.js'
export {openLiveAudio} from './live-audio.js'
export {LiveLine} from './live-line.js'
export {McpCommand, toolProgramFlags} from './mcp-command.js'
export {
  controlUrlFlag,
  DeadMessagesCommand,
  deadMessagesArg,
  MeshCommand,
  nodeFlag,
  pageFlags,
  stateFlag,
} from './mesh-command.js'
export {asAgent, asLabel, asLease, asMessage, asNode} from './mesh-input.js'
export {meshPlace, meshStoreFlags} from './mesh-store.js'
export {
  changeLine,
  formatAudit,
  formatDeadMessages,
  formatLeases,
  formatMeshMessages,
  formatMeshStats,
  formatMeshStatus,
  formatNodes,
} from './mesh-text.js'
export {formatHistory, formatInbox} from './message-text.js'
export {formatModel, languageModelFacts} from './model-facts.js'
export {
  baseFlags,
  chatFlags,
  chosenDefaults,
  ignoreConfigKeyFlag,
  installedModelArg,
  modelFlag,
  namedAdapterFlag,
  namedAdapters,
  serverFlag,
  withoutBaseSwitch,
} from './model-flag.js'
export {formatModels, listModels, listOllama} from './model-list.js'
export type {ModelPlace} from './model-place.js'
export {nameAndValue} from './name-value.js'
export {withWorkspaceStore} from './open-workspace.js'
export {OperationCommand} from './operation-command.js'
export {operationArgs, operationFlags} from './operation-flags.js'
export {formatOperations} from './oplog-text.js'
export {OrchCommand, taskArg, taskFlag} from './orch-command.js'
export {
  acceptedLine,
  agentLine,
  formatAgents,
  formatAttention,
  formatEvidence,
  formatGates,
  formatStatus,
  formatTask,
  formatTasks,
  taskLine,
} from './orch-text.js'
export {OutputTurn} from './output-turn.js'
export {overwriteFlag} from './overwrite-flag.js'
export {executionText, formatPlan, formatPlanStatus, formatPlans, type KeptPlan} from './plan-text.js'
export {byteProgress, megabytes, showQuantising, withProgress} from './progress.js'
export {formatQuestions} from './question-text.js'
export {rawAudioFlags, rawAudioOf} from './raw-audio-flags.js'
export {formatFlags, readReplyFormat} from './reply-format-flags.js'
export {formatStats, type ReplyStats} from './reply-stats.js'
export {runQuery} from './run-query.js'
export {readSecret} from './secret-input.js'
export {liveLimitFlags, recordingLimitFlags, sessionLimitsOf} from './session-flags.js'
export {noticeOfSession} from './session-notice.js'
export {formatSession, formatSessions, turns} from './session-text.js'
export {settingFlags} from './setting-flags.js'
export {formatSettings} from './settings-text.js'
export {skippedNotices} from './skipped-files.js'
export {SpeechCommand, speechFlags} from './speech-command.js'
export {askTerminal, clarifyRoute, errorOf, formatRoute, noticeOf, routeFlags} from './spoken-route.js'
export {readings} from './store-changes.js'
export {submissionFlags, submissionOf} from './submission-flags.js'
export {subtitleFlags, subtitleShapeOf, subtitleWords} from './subtitle-flags.js'
export {formatFacts, formatTable, type TableView, tableFlags, wide, wrapped} from './table.js'
export {
  manyTasksFlags,
  openStatuses,
  statusFlag,
  TasksCommand,
  taskArgs,
  taskFilter,
  taskFilterFlags,
} from './tasks-command.js'
export {ThinkingText, thinkingFlags} from './thinking-text.js'
export {durationFlag, momentFlag, positionFlag} from './time-flags.js'
export {readTools, toolFlags} from './tool-flags.js'
export {formatTools} from './tool-text.js'
export {
  type TranscriptDestination,
  transcriptDestination,
  transcriptFormatFlag,
  transcriptTitles,
} from './transcript-destination.js'
export {transcriptionFigures} from './transcription-figures.js'
export {type Transcription, TranscriptionJob} from './transcription-job.js'
export {UtteranceFile} from './utterance-file.js'
export {notCompleted} from './wait-for-task.js'
export {driveFlags, WorkflowCommand} from './workflow-command.js'
export {workflowPorts} from './workflow-ports.js'
export {formatRun, formatRuns, formatSchedules, workflowInputs} from './workflow-text.js'
