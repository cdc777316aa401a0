import {sectionSettings} from '../setting.js'
import {number} from '../types.js'

const share = number({min: 0, max: 1})
const percentage = number({min: 0, max: 100})

/** Confidence thresholds that override the built-in policy. */
export const socratesPolicySettings = sectionSettings('orchestrator.socrates_policy', () => ({
  abstainThreshold: {
    type: share,
    doc: 'Confidence below which no answer is given.',
  },
  askForHelpThreshold: {
    type: share,
    doc: 'Confidence below which the user is asked.',
  },
  maxContradictionRatioForAnswer: {
    type: share,
    doc: 'Maximum share of contradictions for a plain answer.',
  },
  minPersistConfidence: {
    type: share,
    planned: true,
    doc: 'Minimum confidence for storing a finding.',
  },
  minTrainingPairConfidence: {
    type: share,
    planned: true,
    doc: 'Minimum confidence for using an answer as training data.',
  },
  minReviewFindingConfidence: {
    type: percentage,
    planned: true,
    doc: 'Minimum confidence for reporting a finding of a review, in percent.',
  },
  minPromptReportConfidence: {
    type: percentage,
    planned: true,
    doc: 'Minimum confidence for reporting a finding about a prompt, in percent.',
  },
}))
