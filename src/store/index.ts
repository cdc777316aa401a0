/**
 * SQLite files: opened with safe pragmas, brought up to date by named schema fragments, read and written through typed
 * rows. Also the identity of the repository a workspace belongs to. The engine is loaded when a file is first opened.
 */
export {type Fragment, fragment} from './fragment.js'
export {repositoryId, repositoryRoot} from './repository.js'
export {openStore, type Store, type StoreOptions} from './store.js'
