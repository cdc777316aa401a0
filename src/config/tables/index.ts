import type {SettingTable} from '../setting.js'
import {messageSettings} from './a2a.js'
import {appSettings} from './app.js'
import {assistantSettings} from './assistant.js'
import {daemonSettings} from './daemon.js'
import {engineSettings} from './engine.js'
import {hubSettings} from './hub.js'
import {ideSettings} from './ide.js'
import {inferenceSettings} from './inference.js'
import {loggingSettings} from './logging.js'
import {mcpSettings} from './mcp.js'
import {meshSettings} from './mesh.js'
import {meshNodeSettings} from './mesh-node.js'
import {meshSecretSettings} from './mesh-secrets.js'
import {meshServerSettings} from './mesh-server.js'
import {networkSettings} from './network.js'
import {orchestratorSettings} from './orchestrator.js'
import {defaultAgentCapabilitySettings} from './orchestrator-agents.js'
import {
  attentionTlxWeightSettings,
  interruptionCalibrationSettings,
  orchestratorAttentionSettings,
  tierGateSettings,
} from './orchestrator-attention.js'
import {orchestratorBudgetSettings} from './orchestrator-budgets.js'
import {orchestratorDelegationSettings} from './orchestrator-delegation.js'
import {orchestratorExecSettings} from './orchestrator-exec.js'
import {orchestratorGateSettings, orchestratorHarnessSettings} from './orchestrator-gates.js'
import {orchestratorCompactionSettings, orchestratorMemorySettings} from './orchestrator-memory.js'
import {orchestrationMigrationSettings} from './orchestrator-migration.js'
import {orchestratorPlanningSettings, testDecisionPolicySettings} from './orchestrator-planning.js'
import {orchestratorRoutingSettings} from './orchestrator-routing.js'
import {orchestratorScalingSettings} from './orchestrator-scaling.js'
import {orchestratorSessionSettings} from './orchestrator-session.js'
import {socratesPolicySettings} from './orchestrator-socrates-policy.js'
import {serveSettings} from './serve.js'
import {speechSettings} from './speech.js'
import {speechAudioSettings} from './speech-audio.js'
import {speechRefineSettings} from './speech-refine.js'
import {speechServerSettings} from './speech-server.js'
import {speechSessionSettings} from './speech-session.js'
import {telemetrySettings} from './telemetry.js'
import {workspaceSettings} from './workspace.js'

/** Tables of the orchestrator and the mesh, in display order. */
export const orchestratorTables: readonly SettingTable[] = [
  orchestratorSettings,
  orchestratorExecSettings,
  orchestratorScalingSettings,
  orchestratorBudgetSettings,
  orchestratorRoutingSettings,
  orchestratorGateSettings,
  orchestratorHarnessSettings,
  orchestratorPlanningSettings,
  testDecisionPolicySettings,
  socratesPolicySettings,
  orchestratorAttentionSettings,
  tierGateSettings,
  attentionTlxWeightSettings,
  interruptionCalibrationSettings,
  orchestrationMigrationSettings,
  defaultAgentCapabilitySettings,
  orchestratorSessionSettings,
  orchestratorMemorySettings,
  orchestratorCompactionSettings,
  orchestratorDelegationSettings,
  meshSettings,
]

/** All tables, in the order in which `svc config show` prints them. */
export const settingTables: readonly SettingTable[] = [
  workspaceSettings,
  loggingSettings,
  networkSettings,
  engineSettings,
  serveSettings,
  inferenceSettings,
  speechSettings,
  speechAudioSettings,
  speechRefineSettings,
  speechSessionSettings,
  speechServerSettings,
  hubSettings,
  ideSettings,
  ...orchestratorTables,
  meshSecretSettings,
  meshNodeSettings,
  meshServerSettings,
  messageSettings,
  daemonSettings,
  mcpSettings,
  assistantSettings,
  telemetrySettings,
  appSettings,
]
