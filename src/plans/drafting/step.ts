import type {ManifestEntry} from '../../contracts/index.js'
import type {Task} from '../../tasks/index.js'

import type {ReplanTrigger} from '../vocabulary.js'

/** A step of a plan that is not stored yet. */
export interface DraftStep {
  description: string
  /** Positions, from 0, of the steps of the same plan that this step depends on. */
  dependsOn: readonly number[]
  files: readonly ManifestEntry[]
  category: Task['category']
  /** 1 to 10. */
  complexity: number
  role?: NonNullable<Task['execution_role']>
  triggers: readonly ReplanTrigger[]
  /** Name of the verification workflow, for the verification step. */
  workflow?: string
}

/** Workflow of the last step, if it verifies the plan. */
export const verificationWorkflow = 'verification_stack'
