/**
 * The language server: what an editor asks about a program of the data language, answered over the Language Server
 * Protocol. It reads what the language says about a program and writes nothing but edits that the editor applies.
 */
export {startLanguageServer} from './server.js'
