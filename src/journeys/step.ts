/** Who takes a step. */
export type JourneyActor = 'human' | 'cli' | 'runtime' | 'mcp' | 'ci' | 'daemon'

/** How far the program is with a step; of one that is `spec_only` nothing is there yet. */
export type JourneyMaturity = 'stable' | 'beta' | 'spec_only'

/** A journey, as the contract `journeys/definition.v1` has it. */
export interface JourneyDefinition {
  journey_id: string
  version: number
  title: string
  description?: string
}

/** A step of a journey, as the contract `journeys/step.v1` has it. */
export interface JourneyStep {
  step_id: string
  /** From 1. */
  ordinal: number
  actor: JourneyActor
  /** What it is taken with: a method of the daemon, a tool, or a command. */
  primary_operation_id?: string
  /** What it leaves behind. */
  persistence_hints?: readonly string[]
  /** Entries of `contracts/journeys/limitations.v1.yaml`. */
  limitation_ids?: readonly string[]
  maturity: JourneyMaturity
}
