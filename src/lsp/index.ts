/**
 * The language server for the data language (Language Server Protocol). It never writes files; edits are applied by the
 * editor.
 */
export {startLanguageServer} from './server.js'
