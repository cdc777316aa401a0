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
    doc: 'Minimum confidence of an entry of the context store that states its confidence.',
  },
  minTrainingPairConfidence: {
    type: share,
    doc: 'Minimum confidence for recording a transcript and its correction as training data.',
  },
  minReviewFindingConfidence: {
    type: percentage,
    doc: 'Minimum confidence for reporting a finding of the scan of written files, in percent; errors are always reported.',
  },
  minPromptReportConfidence: {
    type: percentage,
    doc: 'Minimum confidence for reporting a conflict or an injection in a description, in percent.',
  },
}))
