/**
 * SQLite files: opened with safe pragmas, brought up to date by named schema fragments, read and written through typed
 * rows. Also the identity of the repository a workspace belongs to. The engine is loaded when a file is first opened.
 */
export {type Driver, loadDriver} from './driver.js'
export {applyFragments, type Fragment, fragment} from './fragment.js'
export {
  countRecords,
  type DatabaseFacts,
  describeDatabase,
  type ExportedRow,
  exportRows,
  importRows,
  moveAside,
  pruneRecords,
  type RecordCount,
  vacuum,
} from './maintenance.js'
export {repositoryId, repositoryRoot} from './repository.js'
export {type DatabaseOptions, openDatabase, openStore, type Store, type StoreOptions, storeError} from './store.js'
