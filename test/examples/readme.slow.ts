import {isLong, testShellBlocks} from './shell-blocks.js'

testShellBlocks(['README.md', 'apps/library.README.md'], isLong, 6)
