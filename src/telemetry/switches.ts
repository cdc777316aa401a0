import {resolveSettings, type SettingSources, type SettingWarning, telemetrySettings} from '../config/index.js'

/** What is recorded in addition to model calls, which are always accounted for. */
export interface Telemetry {
  /** Metrics are recorded. */
  readonly metrics: boolean
  /** Costs of model calls are emitted as events; undefined: only if the store is in memory. */
  readonly costEvents: boolean | undefined
  /** The journal of workflows is recorded as metrics. */
  readonly workflowJournal: boolean
}

export function resolveTelemetry(sources: SettingSources): {
  telemetry: Telemetry
  warnings: readonly SettingWarning[]
} {
  const {values, warnings} = resolveSettings(telemetrySettings, sources)
  const {enabled, llmCostEvents, workflowJournalOff} = values
  return {
    telemetry: {
      metrics: enabled,
      costEvents: enabled ? llmCostEvents : false,
      workflowJournal: enabled && !workflowJournalOff,
    },
    warnings,
  }
}

/** True if the costs of model calls are emitted as events. */
export const emitsCosts = ({isKept, telemetry}: {isKept: boolean; telemetry: Telemetry}): boolean =>
  telemetry.costEvents ?? !isKept
