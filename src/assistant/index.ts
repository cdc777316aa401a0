/** Talking with a model about the workspace, and having it write programs of the data language. */
export {assistantFragment} from './schema.js'
