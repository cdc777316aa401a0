import {isLong, testShellBlocks} from './shell-blocks.js'

/** Texts whose blocks a newcomer may paste into a shell. */
const texts = ['README.md', 'todo.README.md', 'library.README.md', 'tasks.README.md']

testShellBlocks(texts, (script) => !isLong(script), 8)
