/** Severities of findings, least severe first. */
export const severities = ['info', 'warning', 'error', 'critical'] as const
export type Severity = (typeof severities)[number]

/** Something that a check found in a file or in the claims about a task. */
export interface Finding {
  /** Stable id, such as `stub/todo-comment`. */
  rule: string
  severity: Severity
  /** Path relative to the workspace root, if the finding is in a file. */
  path?: string
  /** Line in the file, from 1. */
  line?: number
  /** A sentence; never contains a secret. */
  message: string
}
