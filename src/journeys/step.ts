/** The actor of a step. */
export type JourneyActor = 'human' | 'cli' | 'runtime' | 'mcp' | 'ci' | 'daemon'

/** Implementation status of a step; `spec_only` is not implemented. */
export type JourneyMaturity = 'stable' | 'beta' | 'spec_only'

/** A journey, as in the contract `journeys/definition.v1`. */
export interface JourneyDefinition {
  journey_id: string
  version: number
  title: string
  description?: string
}

/** A step of a journey, as in the contract `journeys/step.v1`. */
export interface JourneyStep {
  step_id: string
  /** From 1. */
  ordinal: number
  actor: JourneyActor
  /** The operation of the step: a method of the daemon, a tool, or a command. */
  primary_operation_id?: string
  /** The data that the step stores. */
  persistence_hints?: readonly string[]
  /** Entries of `contracts/journeys/limitations.v1.yaml`. */
  limitation_ids?: readonly string[]
  maturity: JourneyMaturity
}
