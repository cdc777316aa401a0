import type {Finding} from '../base/finding.js'
import type {ObservedFile} from './evidence.js'

/** The findings of the scans of all files, each with the path of its file. */
export const scanFindings = (files: readonly ObservedFile[]): Finding[] =>
  files.flatMap(({path, findings}) => findings.map((finding) => ({path, ...finding})))

export const isLinkFinding = ({rule}: Finding): boolean => rule.startsWith('links/')
