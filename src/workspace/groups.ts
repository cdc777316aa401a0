import {matchesGlob} from './glob.js'

/** Related files: work on them is preferably given to the group's default agent, or to the agent with its name. */
export interface AffinityGroup {
  name: string
  patterns: readonly string[]
  defaultAgent?: string
}

/** The group of files that belong to no other group. No agent is started for it. */
export const catchAllGroup = 'workspace'

/**
 * Returns the name of the first group with a matching pattern.
 * @param path relative to the root of the workspace, with `/`
 */
export const groupOf = (path: string, groups: readonly AffinityGroup[]): string | undefined =>
  groups.find(({patterns}) => patterns.some((pattern) => matchesGlob(path, pattern)))?.name
