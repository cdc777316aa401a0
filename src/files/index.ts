/**
 * Files by paths that somebody else names: where they really lie, and whether that is inside of a folder; and files
 * that are written whole or not at all, by one process at a time, and replace others only where they may. Also the
 * folder of this package.
 */
export {writeGenerated} from './generated.js'
export {outputInside, realPathInside} from './inside.js'
export {type FileLock, lockFile} from './lock.js'
export {checkOutputs, isFolder, type OutputRule, writeOutput} from './output.js'
export {packageRoot} from './package.js'
export {writeFault, writeWholeFile, writeWholeFileSync} from './whole.js'
