import {createHash} from 'node:crypto'
import {markup} from './markup.js'
import {script} from './script/index.js'
import {style} from './style.js'

/** The page: one document that needs nothing from elsewhere. What it shows comes to it as a stream of events. */
export const page: string = markup({style, script})

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Runs the script and the style of the page and no other, talks to its own server alone, and stands in no frame. */
export const contentPolicy: string = [
  "default-src 'none'",
  `script-src ${hashOf(script)}`,
  `style-src ${hashOf(style)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')
