/**
 * The data language: a source becomes tokens and a tree (`syntax`), a checked tree (`check`), SQL statements (`plan`),
 * and either runs (`run`) or is written in another language (`emit`); `migrate` brings a database to a program.
 */
export * from './check/index.js'
export * from './diagnostics/index.js'
export * from './emit/index.js'
export * from './migrate/index.js'
export * from './plan/index.js'
export * from './run/index.js'
export {formatSource} from './syntax/index.js'

/** Every diagnostic code with its cause, an example and the fix. The texts are loaded only here. */
export const explainDiagnostics = async () => (await import('./check/explain.js')).explainDiagnostics()
