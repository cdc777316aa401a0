/**
 * Files by paths that somebody else names: where they really lie, and whether that is inside of a folder; and files
 * that are written whole or not at all, by one process at a time, and replace others only where they may. Also the
 * folder of this package.
 */
export {writeFault, writeFileAtomic, writeFileAtomicSync} from './atomic-write.js'
export {containedOutput, containedPath} from './containment.js'
export {writeGenerated} from './generated.js'
export {lockFile, withLockFile} from './lock.js'
export {checkOutputs, isFolder, type OutputRule, writeOutput} from './output.js'
export {packageRoot} from './package.js'
