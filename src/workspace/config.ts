import {
  attentionTlxWeightSettings,
  defaultAgentCapabilitySettings,
  interruptionCalibrationSettings,
  meshNodeSettings,
  meshSecretSettings,
  meshSettings,
  orchestrationMigrationSettings,
  orchestratorAttentionSettings,
  orchestratorBudgetSettings,
  orchestratorCompactionSettings,
  orchestratorDelegationSettings,
  orchestratorExecSettings,
  orchestratorGateSettings,
  orchestratorHarnessSettings,
  orchestratorMemorySettings,
  orchestratorPlanningSettings,
  orchestratorRoutingSettings,
  orchestratorScalingSettings,
  orchestratorSessionSettings,
  orchestratorSettings,
  resolveSettings,
  type SettingRows,
  type SettingSources,
  type SettingTable,
  type SettingValues,
  type SettingWarning,
  socratesPolicySettings,
  type TableValues,
  testDecisionPolicySettings,
  tierGateSettings,
} from '../config/index.js'
import {withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {Capabilities} from './capabilities.js'
import {confidencePolicy, type SocratesThresholds} from './policy.js'

type FlatValues = TableValues<typeof orchestratorSettings> &
  TableValues<typeof orchestratorScalingSettings> &
  TableValues<typeof orchestratorBudgetSettings> &
  TableValues<typeof orchestratorRoutingSettings> &
  TableValues<typeof orchestratorGateSettings> &
  TableValues<typeof orchestratorPlanningSettings> &
  TableValues<typeof orchestratorAttentionSettings> &
  TableValues<typeof orchestrationMigrationSettings> &
  TableValues<typeof orchestratorDelegationSettings> &
  TableValues<typeof meshSettings>

/** All orchestrator settings. Times end in `Ms` or `Secs`. */
export type OrchestratorConfig = Readonly<FlatValues> & {
  readonly exec: Readonly<TableValues<typeof orchestratorExecSettings>>
  readonly harness: Readonly<TableValues<typeof orchestratorHarnessSettings>>
  readonly session: Readonly<TableValues<typeof orchestratorSessionSettings>>
  readonly memory: Readonly<TableValues<typeof orchestratorMemorySettings>>
  readonly compaction: Readonly<TableValues<typeof orchestratorCompactionSettings>>
  /** This machine as a mesh node, with the other credentials that it presents to a control plane. */
  readonly meshNode: Readonly<TableValues<typeof meshNodeSettings>>
  readonly meshSecrets: Readonly<TableValues<typeof meshSecretSettings>>
  /** Only the thresholds that are set; `confidencePolicy` adds the others. */
  readonly socratesPolicy: Readonly<Partial<SocratesThresholds>>
  readonly testDecisionPolicy: Readonly<TableValues<typeof testDecisionPolicySettings>>
  readonly tierGate: Readonly<TableValues<typeof tierGateSettings>>
  readonly attentionTlxWeights: Readonly<TableValues<typeof attentionTlxWeightSettings>>
  readonly interruptionCalibration: Readonly<TableValues<typeof interruptionCalibrationSettings>>
  readonly defaultAgentCapabilities: Readonly<Capabilities>
}

/**
 * Resolves the configuration from the environment and the file.
 * @throws config_type if a value in the file has the wrong type
 * @throws orchestrator_config_invalid if individually valid settings contradict each other
 */
export function resolveOrchestratorConfig(sources: SettingSources): {
  config: OrchestratorConfig
  warnings: SettingWarning[]
} {
  const warnings: SettingWarning[] = []
  const read = <R extends SettingRows>(table: SettingTable<R>): SettingValues<R> => {
    const resolution = resolveSettings(table, sources)
    warnings.push(...resolution.warnings)
    return resolution.values
  }
  const mesh = read(meshSettings)
  const config: OrchestratorConfig = {
    ...read(orchestratorSettings),
    ...read(orchestratorScalingSettings),
    ...read(orchestratorBudgetSettings),
    ...read(orchestratorRoutingSettings),
    ...read(orchestratorGateSettings),
    ...read(orchestratorPlanningSettings),
    ...read(orchestratorAttentionSettings),
    ...read(orchestrationMigrationSettings),
    ...read(orchestratorDelegationSettings),
    ...mesh,
    exec: read(orchestratorExecSettings),
    harness: read(orchestratorHarnessSettings),
    session: read(orchestratorSessionSettings),
    memory: read(orchestratorMemorySettings),
    compaction: read(orchestratorCompactionSettings),
    meshNode: read(meshNodeSettings),
    meshSecrets: read(meshSecretSettings),
    socratesPolicy: withoutUndefined(read(socratesPolicySettings)),
    testDecisionPolicy: read(testDecisionPolicySettings),
    tierGate: read(tierGateSettings),
    attentionTlxWeights: read(attentionTlxWeightSettings),
    interruptionCalibration: read(interruptionCalibrationSettings),
    defaultAgentCapabilities: agentCapabilities(read(defaultAgentCapabilitySettings), mesh),
  }
  const faults = contradictions(config)
  if (faults.length > 0) throw new SvcError('orchestrator_config_invalid', {faults})
  return {config, warnings}
}

/** Default capabilities of every agent, merged with the settings of this mesh node. */
function agentCapabilities(
  configured: TableValues<typeof defaultAgentCapabilitySettings>,
  {labels, advertiseGpu}: TableValues<typeof meshSettings>,
): Capabilities {
  return {
    ...withoutUndefined(configured),
    gpu_cuda: configured.gpu_cuda || advertiseGpu,
    labels: [...new Set([...configured.labels, ...labels])],
  }
}

function contradictions(config: OrchestratorConfig): string[] {
  const {minAgents, maxAgents, socratesPolicy} = config
  const {abstainThreshold, askForHelpThreshold} = confidencePolicy(socratesPolicy)
  return [
    atMost('orchestrator.min_agents', minAgents, 'orchestrator.max_agents', maxAgents),
    atMost(
      'orchestrator.socrates_policy.abstain_threshold',
      abstainThreshold,
      'orchestrator.socrates_policy.ask_for_help_threshold',
      askForHelpThreshold,
    ),
    withoutPlanning(config),
    withoutCommands(config),
  ].flat()
}

/** Settings that have no meaning while planning is off. */
function withoutPlanning(config: OrchestratorConfig): string[] {
  if (config.planningEnabled) return []
  const dependents = {
    planning_router_enabled: config.planningRouterEnabled,
    planning_replan_enabled: config.planningReplanEnabled,
    planning_workflow_handoff_enabled: config.planningWorkflowHandoffEnabled,
  }
  return Object.entries(dependents).flatMap(([name, isOn]) =>
    isOn ? [`orchestrator.${name} requires orchestrator.planning_enabled`] : [],
  )
}

/** A behavioral gate that cannot run would refuse every task. */
function withoutCommands({
  behavioralGateOnComplete,
  behavioralGateCommand: commands,
  exec,
}: OrchestratorConfig): string[] {
  if (!behavioralGateOnComplete) return []
  const missing = commands.filter((name) => !Object.hasOwn(exec.templates, name))
  return [
    ...(exec.enabled ? [] : ['orchestrator.behavioral_gate_on_complete requires orchestrator.exec.enabled']),
    ...(commands.length > 0
      ? []
      : ['orchestrator.behavioral_gate_on_complete requires orchestrator.behavioral_gate_command']),
    ...missing.map((name) => `orchestrator.behavioral_gate_command requires orchestrator.exec.templates.${name}`),
  ]
}

const atMost = (lower: string, low: number, upper: string, high: number): string[] =>
  low <= high ? [] : [`${lower} (${low}) is larger than ${upper} (${high})`]
