import type {JourneyDefinition, JourneyStep} from './step.js'

/**
 * The path from an empty folder to verified work. A migration seeds it into stores, so a change here needs another
 * migration to reach existing stores.
 */
export const canonicalJourney: JourneyDefinition = {
  journey_id: 'canonical_journey.v1.greenfield_svc_devloop',
  version: 1,
  title: 'From an empty folder to work that is checked',
  description:
    'Set up a workspace, write a program, plan the work, have it done with models and agents, take in what was said and learnt, and check the result.',
}

const steps: readonly Omit<JourneyStep, 'ordinal'>[] = [
  {
    step_id: 'bootstrap_repo',
    actor: 'human',
    primary_operation_id: 'svc config check',
    persistence_hints: ['workspace_file'],
    limitation_ids: ['L-021'],
    maturity: 'stable',
  },
  {
    step_id: 'open_workspace_store',
    actor: 'runtime',
    primary_operation_id: 'orch.workspace_journey',
    persistence_hints: ['workspace_store'],
    limitation_ids: ['L-021', 'L-023'],
    maturity: 'stable',
  },
  {
    step_id: 'author_compile',
    actor: 'human',
    primary_operation_id: 'svc db build',
    persistence_hints: ['generated_files'],
    limitation_ids: ['L-001'],
    maturity: 'stable',
  },
  {
    step_id: 'structured_plan',
    actor: 'human',
    primary_operation_id: 'svc orch plan new',
    persistence_hints: ['workspace_store'],
    limitation_ids: ['L-010', 'L-015'],
    maturity: 'beta',
  },
  {
    step_id: 'agentic_assist',
    actor: 'mcp',
    primary_operation_id: 'svc_chat_message',
    persistence_hints: ['workspace_store'],
    limitation_ids: ['L-022'],
    maturity: 'beta',
  },
  {
    step_id: 'research_evidence',
    actor: 'human',
    primary_operation_id: 'svc transcribe',
    persistence_hints: ['transcript_files'],
    limitation_ids: ['L-016'],
    maturity: 'stable',
  },
  {
    step_id: 'corpus_train',
    actor: 'human',
    primary_operation_id: 'svc merge',
    persistence_hints: ['model_directory'],
    limitation_ids: ['L-005'],
    maturity: 'beta',
  },
  {
    step_id: 'verify_ship',
    actor: 'ci',
    primary_operation_id: 'svc db test',
    limitation_ids: ['L-028'],
    maturity: 'stable',
  },
]

export const canonicalJourneySteps: readonly JourneyStep[] = steps.map(({step_id, ...step}, i) => ({
  step_id,
  ordinal: i + 1,
  ...step,
}))
