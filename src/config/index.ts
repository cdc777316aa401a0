/**
 * Each setting is declared once, as a row of a table: name, environment variables, TOML keys, type, default and doc.
 * Parsing, precedence, warnings, `svc config`, command flags and the manual are derived from the rows.
 */
export {type DescribedSetting, describeSettings} from './describe.js'
export {
  formatMoment,
  latestMomentMs,
  maxDurationMs,
  parseDuration,
  readDuration,
  readMoment,
} from './duration.js'
export {type EnvFile, envFileExposure} from './env-file.js'
export {type EnvLine, parseEnvLines} from './env-lines.js'
export {meshEnvPath, readMeshEnv} from './env-mesh.js'
export {type ConfigFile, readConfigFile, readToml, readUserConfig} from './file.js'
export {
  checkValues,
  type Origin,
  type OriginSource,
  type Resolution,
  type ResolvedSetting,
  resolveSettings,
  type SettingSources,
  type SettingValues,
  type TableValues,
  unknownKeys,
} from './resolve.js'
export {type FlagGroup, type Setting, type SettingRows, type SettingTable, settings} from './setting.js'
export {readSpeechConfig} from './speech-config.js'
export {
  defaultSpeechModel,
  type SpeechFacts,
  speechRuntime,
  speechRuntimeFaults,
  speechStatus,
  speechSummary,
} from './speech-status.js'
export type {FileGroup, HiddenCheck} from './structures.js'
export {messageSettings} from './tables/a2a.js'
export {appSettings} from './tables/app.js'
export {assistantSettings} from './tables/assistant.js'
export {daemonSettings} from './tables/daemon.js'
export {engineSettings} from './tables/engine.js'
export {hubSettings} from './tables/hub.js'
export {ideSettings} from './tables/ide.js'
export {orchestratorTables, settingTables} from './tables/index.js'
export {inferenceSettings} from './tables/inference.js'
export {loggingSettings} from './tables/logging.js'
export {mcpSettings} from './tables/mcp.js'
export {meshSettings} from './tables/mesh.js'
export {meshNodeSettings} from './tables/mesh-node.js'
export {meshSecretSettings} from './tables/mesh-secrets.js'
export {meshServerSettings} from './tables/mesh-server.js'
export {networkSettings} from './tables/network.js'
export {orchestratorSettings} from './tables/orchestrator.js'
export {defaultAgentCapabilitySettings} from './tables/orchestrator-agents.js'
export {
  attentionTlxWeightSettings,
  interruptionCalibrationSettings,
  orchestratorAttentionSettings,
  tierGateSettings,
} from './tables/orchestrator-attention.js'
export {orchestratorBudgetSettings} from './tables/orchestrator-budgets.js'
export {orchestratorDelegationSettings} from './tables/orchestrator-delegation.js'
export {orchestratorExecSettings} from './tables/orchestrator-exec.js'
export {orchestratorGateSettings, orchestratorHarnessSettings} from './tables/orchestrator-gates.js'
export {orchestratorCompactionSettings, orchestratorMemorySettings} from './tables/orchestrator-memory.js'
export {orchestrationMigrationSettings} from './tables/orchestrator-migration.js'
export {orchestratorPlanningSettings, testDecisionPolicySettings} from './tables/orchestrator-planning.js'
export {orchestratorRoutingSettings} from './tables/orchestrator-routing.js'
export {orchestratorScalingSettings} from './tables/orchestrator-scaling.js'
export {orchestratorSessionSettings} from './tables/orchestrator-session.js'
export {socratesPolicySettings} from './tables/orchestrator-socrates-policy.js'
export {serveSettings} from './tables/serve.js'
export {speechSettings} from './tables/speech.js'
export {speechAudioSettings} from './tables/speech-audio.js'
export {speechRefineSettings} from './tables/speech-refine.js'
export {speechServerSettings} from './tables/speech-server.js'
export {speechSessionSettings} from './tables/speech-session.js'
export {telemetrySettings} from './tables/telemetry.js'
export {workspaceSettings} from './tables/workspace.js'
export {configTemplate} from './template.js'
export * as types from './types.js'
export type {SettingWarning} from './warning.js'
export {discoverWorkspace, type Workspace} from './workspace.js'
