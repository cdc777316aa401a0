import type {ExecutionRole, ManifestEntry, TaskCategory} from '../../tasks/index.js'

import type {ReplanTrigger} from '../vocabulary.js'

/** A step of a plan that is not kept yet. */
export interface DraftStep {
  description: string
  /** Places, from 0, of steps of the same plan that come first. */
  dependsOn: readonly number[]
  files: readonly ManifestEntry[]
  category: TaskCategory
  /** 1 to 10. */
  complexity: number
  role?: ExecutionRole
  triggers: readonly ReplanTrigger[]
  /** Name of what checks the work, for the step that does. */
  workflow?: string
}

/** What the last step of a plan runs where it checks the work. */
export const verificationWorkflow = 'verification_stack'
