import {settings} from '../setting.js'
import {boolean} from '../types.js'

/** Which contract clients of the orchestrator are told to use. */
export const orchestrationMigrationSettings = settings('orchestrator.orchestration_migration', () => ({
  orchestrationV2Enabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MIGRATION_V2_ENABLED'],
    toml: ['orchestrator.orchestration_migration.orchestration_v2_enabled'],
    default: false,
    doc: 'Tell clients that submit a task to speak the contract v2.',
  },
  legacyOrchestrationFallback: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MIGRATION_LEGACY_FALLBACK'],
    toml: ['orchestrator.orchestration_migration.legacy_orchestration_fallback'],
    default: true,
    doc: 'Go on with the older contract where v2 has no store, instead of refusing.',
  },
}))
