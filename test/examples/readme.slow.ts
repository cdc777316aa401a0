import {isLong, testShellBlocks} from './shell-blocks.js'

testShellBlocks(['README.md'], isLong, 5)
