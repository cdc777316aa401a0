/** Migrates a database to match its program: compares them, plans the steps and applies them in one transaction. */
export {type Decisions, noDecisions} from './choices.js'
export type {Step} from './diff.js'
export {blockingSteps, fitsDatabase, type MigrateOptions, type MigrationReport, migrate} from './migrate.js'
