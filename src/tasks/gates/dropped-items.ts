import type {Harness, RequiredCheck} from './evidence.js'

export const noHarness: Harness = {required_checks: [], required_artifacts: [], accept: []}

/** The items of a harness that another one does not have; a check must also cover the same files. */
export function droppedFrom(owed: Harness, given: Harness): string[] {
  const isCovered = ({check, covers}: RequiredCheck) =>
    given.required_checks.some(
      (other) =>
        other.check === check &&
        (other.covers === undefined || (covers?.every((pattern) => other.covers?.includes(pattern)) ?? false)),
    )
  const missing = (kind: string, items: readonly string[], others: readonly string[]) =>
    items.filter((item) => !others.includes(item)).map((item) => `the ${kind} ${JSON.stringify(item)}`)
  return [
    ...owed.required_checks.filter((check) => !isCovered(check)).map(({check}) => `the check ${JSON.stringify(check)}`),
    ...missing('artifact', owed.required_artifacts, given.required_artifacts),
    ...missing('acceptance line', owed.accept, given.accept),
  ]
}
