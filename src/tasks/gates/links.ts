import type {Gate} from './gate.js'
import {isLinkFinding, scanFindings} from './scan-findings.js'

/** Requires that the links in written Markdown files have targets. */
export const links: Gate = {
  name: 'links',
  family: 'debug',
  mode: ({config}) => (config.completionMarkdownLinkAuditEnabled ? 'enforce' : 'off'),
  evaluate: ({files}) => scanFindings(files).filter(isLinkFinding),
}
