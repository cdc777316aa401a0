/** Why the interpretation of a run stopped. None of these is an error of the program. */

/** An activity failed for good. */
export class ActivityFailure extends Error {
  override readonly name = 'ActivityFailure'
}

/** The cancellation of the run was requested. */
export class Cancellation extends Error {
  override readonly name = 'Cancellation'
}

/** Everything that is left waits, and the run leaves the process. */
export class Suspension extends Error {
  override readonly name = 'Suspension'
}

/** The run has failed earlier, and this activity was not reached. */
export class NotReached extends Error {
  override readonly name = 'NotReached'
  readonly activityId: string

  constructor(activityId: string) {
    super(`The activity ${activityId} has no result.`)
    this.activityId = activityId
  }
}

/** The text of a failure in the tables and the journal. */
export const failureText = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).slice(0, maxErrorCharacters)

const maxErrorCharacters = 4000
