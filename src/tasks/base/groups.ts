import {matchesGlob} from './glob.js'

/** Files that belong together: work on them prefers the agent of the same name. */
export interface AffinityGroup {
  name: string
  patterns: readonly string[]
}

/** The group that holds every file where nothing better is known. No agent is started for it. */
export const catchAllGroup = 'workspace'

/**
 * Name of the first group with a pattern that matches.
 * @param path relative to the root of the workspace, with `/`
 */
export const groupOf = (path: string, groups: readonly AffinityGroup[]): string | undefined =>
  groups.find(({patterns}) => patterns.some((pattern) => matchesGlob(path, pattern)))?.name
