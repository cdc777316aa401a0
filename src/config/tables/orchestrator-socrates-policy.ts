import {settings} from '../setting.js'
import {number} from '../types.js'

const share = number({min: 0, max: 1})
const percentage = number({min: 0, max: 100})

/** Thresholds of confidence that replace those of the built-in policy. */
export const socratesPolicySettings = settings('orchestrator.socrates_policy', () => ({
  abstainThreshold: {
    type: share,
    toml: ['orchestrator.socrates_policy.abstain_threshold'],
    planned: true,
    doc: 'Confidence below which there is no answer.',
  },
  askForHelpThreshold: {
    type: share,
    toml: ['orchestrator.socrates_policy.ask_for_help_threshold'],
    planned: true,
    doc: 'Confidence below which the user is asked.',
  },
  maxContradictionRatioForAnswer: {
    type: share,
    toml: ['orchestrator.socrates_policy.max_contradiction_ratio_for_answer'],
    planned: true,
    doc: 'Contradiction beyond which there is no plain answer.',
  },
  minPersistConfidence: {
    type: share,
    toml: ['orchestrator.socrates_policy.min_persist_confidence'],
    planned: true,
    doc: 'Confidence from which a finding is kept.',
  },
  minTrainingPairConfidence: {
    type: share,
    toml: ['orchestrator.socrates_policy.min_training_pair_confidence'],
    planned: true,
    doc: 'Confidence from which an answer may serve as training data.',
  },
  minReviewFindingConfidence: {
    type: percentage,
    toml: ['orchestrator.socrates_policy.min_review_finding_confidence'],
    planned: true,
    doc: 'Percentage of confidence from which a finding of a review is told.',
  },
  minPromptReportConfidence: {
    type: percentage,
    toml: ['orchestrator.socrates_policy.min_prompt_report_confidence'],
    planned: true,
    doc: 'Percentage of confidence from which a finding about a prompt is told.',
  },
}))
