/** From the database there is to the program there is: compared, planned, and taken in one transaction. */
export {type Decisions, noDecisions} from './choices.js'
export type {Step} from './diff.js'
export {blockingSteps, type MigrateOptions, type MigrationReport, migrate} from './migrate.js'
