/**
 * SQLite files: safe pragmas, schema migrations by named fragments, typed rows, backups, and maintenance. Also the identity of
 * the repository of a workspace. The driver is loaded when a file is first opened.
 */
export {type BackupFile, backUpDatabase} from './backup.js'
export {backUp, pruneBackups} from './database-copy.js'
export type {DatabaseKind} from './database-kind.js'
export {type Driver, loadDriver} from './driver.js'
export {applyFragments, type Fragment, fragment} from './fragment.js'
export {
  countRecords,
  type DatabaseFacts,
  describeDatabase,
  type ExportedRow,
  exportRows,
  importRows,
  type OthersOptions,
  pruneTables,
  type RecordCount,
  vacuum,
} from './maintenance.js'
export {continueIds, hasTable, lastAssigned, livesTable, raiseAssigned, startLife} from './numbering.js'
export {repositoryId, repositoryRoot} from './repository.js'
export {replaceDatabase, restoreDatabase} from './restore.js'
export {
  createFile,
  type DatabaseOptions,
  fileIdOf,
  isTransient,
  openAlone,
  openDatabase,
  openStore,
  placeCheck,
  type Store,
  type StoreOptions,
  storeError,
} from './store.js'
export {watchStore} from './watch.js'
