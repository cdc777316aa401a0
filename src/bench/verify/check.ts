/** One check of a model. */
export interface ModelCheck {
  name: string
  /** `skipped`: the model has nothing to check, so that nothing is proved. */
  state: 'passed' | 'failed' | 'skipped'
  /** What was compared, and with which result. */
  found: string
  /** What the check proves if it passes. */
  proves: string
}

/** A measured quantity; the value is null if it could not be measured. */
export interface ModelFigure {
  name: string
  value: number | null
  unit: string
}

/** What a check found, without what it proves. */
export type CheckOutcome = Pick<ModelCheck, 'state' | 'found'>

export const passed = (found: string): CheckOutcome => ({state: 'passed', found})
export const failedCheck = (found: string): CheckOutcome => ({state: 'failed', found})
export const skipped = (found: string): CheckOutcome => ({state: 'skipped', found})

/** Passes if the condition holds. */
export const verdict = (holds: boolean, found: string): CheckOutcome => (holds ? passed(found) : failedCheck(found))
