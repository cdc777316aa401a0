/** A file of a check, as it was when the settings were read: a worker cannot change it afterwards. */
export interface HiddenFile {
  /** Relative to the folder of the check's files, with slashes. */
  path: string
  content: Buffer
  isProgram: boolean
}

export interface LoadedCheck {
  /** Position in the settings, from 1. Texts that a worker may read name a check only by it. */
  position: number
  /** Undefined: each file is a program. */
  command: readonly string[] | undefined
  files: readonly HiddenFile[]
}

/** The hidden checks of a workspace, with everything that they read. */
export interface HiddenChecks {
  checks: readonly LoadedCheck[]
  /** File for the results, which only the user can read. */
  logPath: string
}
