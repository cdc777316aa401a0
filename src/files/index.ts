/**
 * Path containment, for paths that a caller names; atomic writes, locks between processes, and the rule for results that
 * would replace other files. Also the folder of this package.
 */
export {writeFault, writeFileAtomic, writeFileAtomicSync} from './atomic-write.js'
export {containedOutput, containedPath} from './containment.js'
export {writeGenerated} from './generated.js'
export {lockFile, withLockFile} from './lock.js'
export {checkOutputs, isFolder, type OutputRule, writeOutput} from './output.js'
export {packageRoot} from './package.js'
