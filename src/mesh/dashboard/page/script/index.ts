import {dead} from './dead.js'
import {dialog} from './dialog.js'
import {elements} from './elements.js'
import {leases} from './leases.js'
import {link} from './link.js'
import {nodes} from './nodes.js'
import {queue} from './queue.js'
import {rows} from './rows.js'
import {start} from './start.js'
import {words} from './words.js'

/**
 * What runs in the page. Every value reaches it as text and leaves it as text: an element is made by its name and
 * filled with strings, so that nothing a node calls itself is ever read as HTML.
 */
export const script: string = `'use strict';
(() => {
${[elements, words, rows, dialog, nodes, leases, queue, dead, link, start].join('\n')}
})()
`
