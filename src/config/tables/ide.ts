import {settings} from '../setting.js'
import {integer, path, text} from '../types.js'

/** What is open in the editor: the context of spoken commands. */
export const ideSettings = settings('ide', () => ({
  activeFile: {
    type: path(),
    env: ['SVC_ACTIVE_FILE', 'ACTIVE_FILE'],
    doc: 'File that is open in the editor.',
  },
  activeLine: {
    type: integer({min: 1}),
    env: ['SVC_ACTIVE_LINE'],
    doc: 'Line of the cursor, from 1.',
  },
  activeSymbol: {
    type: text('a name'),
    env: ['SVC_ACTIVE_SYMBOL'],
    doc: 'Function or type that the cursor is in.',
  },
}))
