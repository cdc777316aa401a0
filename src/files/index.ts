/**
 * Files by paths that somebody else names: where they really lie, and whether that is inside of a folder; and files
 * that are written whole or not at all, by one process at a time. Also the folder of this package.
 */
export {outputInside, realPathInside} from './inside.js'
export {type FileLock, lockFile} from './lock.js'
export {packageRoot} from './package.js'
export {writeWholeFile, writeWholeFileSync} from './whole.js'
