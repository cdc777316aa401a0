/**
 * Files by paths that somebody else names: where they really lie, and whether that is inside of a folder; and files
 * that are written whole or not at all.
 */
export {outputInside, realPathInside} from './inside.js'
export {writeWholeFile, writeWholeFileSync} from './whole.js'
