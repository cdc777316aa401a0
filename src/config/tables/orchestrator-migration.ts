import {settings} from '../setting.js'
import {boolean} from '../types.js'

/** The orchestration contract reported to clients. */
export const orchestrationMigrationSettings = settings('orchestrator.orchestration_migration', () => ({
  orchestrationV2Enabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MIGRATION_V2_ENABLED'],
    toml: ['orchestrator.orchestration_migration.orchestration_v2_enabled'],
    default: false,
    doc: 'Report contract v2 to clients that submit a task.',
  },
  legacyOrchestrationFallback: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_MIGRATION_LEGACY_FALLBACK'],
    toml: ['orchestrator.orchestration_migration.legacy_orchestration_fallback'],
    default: true,
    doc: 'Use the older contract if v2 has no store, instead of failing.',
  },
}))
