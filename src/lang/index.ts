/**
 * The data language. A source is parsed (`syntax`), checked (`check`) and planned as SQL statements (`plan`), then
 * interpreted (`run`) or compiled to another language (`emit`). `migrate` migrates a database to match a program.
 */
export * from './check/index.js'
export * from './diagnostics/index.js'
export * from './emit/index.js'
export * from './migrate/index.js'
export * from './plan/index.js'
export * from './run/index.js'
export {formatSource, promisesProtection} from './syntax/index.js'
export {workspaceNames} from './workspace-names.js'

/** Every diagnostic code with its cause, an example and the fix. Loads the texts on demand. */
export const explainDiagnostics = async () => (await import('./check/explain.js')).explainDiagnostics()
