/** The long-running face of the workspace: runs its tasks, and answers requests as JSON lines. */
export {}
