import {isLong, testShellBlocks} from './shell-blocks.js'

/** Documents whose blocks can be pasted into a shell. */
const texts = ['README.md', 'todo.README.md', 'apps/library.README.md', 'tasks.README.md']

testShellBlocks(texts, (script) => !isLong(script), 8)
