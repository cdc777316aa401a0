import {settings} from '../setting.js'
import {integer, path, text} from '../types.js'

/** Editor state: the context of spoken commands. */
export const ideSettings = settings('ide', () => ({
  activeFile: {
    type: path(),
    env: ['SVC_ACTIVE_FILE', 'ACTIVE_FILE'],
    doc: 'File open in the editor.',
  },
  activeLine: {
    type: integer({min: 1}),
    env: ['SVC_ACTIVE_LINE'],
    doc: 'Line of the cursor, starting at 1.',
  },
  activeSymbol: {
    type: text('a name'),
    env: ['SVC_ACTIVE_SYMBOL'],
    doc: 'Function or type at the cursor.',
  },
}))
