/**
 * Files: containment of caller-supplied paths, atomic writes, lock files, and rules for overwriting outputs. Also the
 * folder of this package.
 */
export {appendJsonLine} from './append-line.js'
export {partialOf, placeFile, writeFault, writeFileAtomic, writeFileAtomicSync} from './atomic-write.js'
export {containedOutput, containedPath, isWithin} from './containment.js'
export {inexactNumber, parseExactJson, parseForeignJson} from './exact-json.js'
export {writeGenerated} from './generated.js'
export {holdOpen, holdOpenFor} from './hold-open.js'
export {linesOf} from './lines.js'
export {holdLockFile, type LockHolder, lockFile, lockHolder, withLockFile} from './lock.js'
export {checkOutputs, GrowingOutput, isFolder, type OutputRule, writeOutput} from './output.js'
export {packageRoot, packageVersion} from './package.js'
export {readEach} from './read-each.js'
export {type LocatedDocument, maxAliasedValues, parseYaml, type Range, readYaml, yamlFault} from './yaml.js'
