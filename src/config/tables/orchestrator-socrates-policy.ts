import {sectionSettings} from '../setting.js'
import {number} from '../types.js'

const share = number({min: 0, max: 1})
const percentage = number({min: 0, max: 100})

/** Thresholds of confidence that replace those of the built-in policy. */
export const socratesPolicySettings = sectionSettings('orchestrator.socrates_policy', () => ({
  abstainThreshold: {
    type: share,
    planned: true,
    doc: 'Confidence below which there is no answer.',
  },
  askForHelpThreshold: {
    type: share,
    planned: true,
    doc: 'Confidence below which the user is asked.',
  },
  maxContradictionRatioForAnswer: {
    type: share,
    planned: true,
    doc: 'Contradiction beyond which there is no plain answer.',
  },
  minPersistConfidence: {
    type: share,
    planned: true,
    doc: 'Confidence from which a finding is kept.',
  },
  minTrainingPairConfidence: {
    type: share,
    planned: true,
    doc: 'Confidence from which an answer may serve as training data.',
  },
  minReviewFindingConfidence: {
    type: percentage,
    planned: true,
    doc: 'Percentage of confidence from which a finding of a review is told.',
  },
  minPromptReportConfidence: {
    type: percentage,
    planned: true,
    doc: 'Percentage of confidence from which a finding about a prompt is told.',
  },
}))
