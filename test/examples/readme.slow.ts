import {isLong, testShellBlocks} from './shell-blocks.js'

testShellBlocks(['README.md', 'library.README.md'], isLong, 6)
