import {settings} from '../setting.js'

/** How plans are made and worked through. */
export const orchestratorPlanningSettings = settings('orchestrator', {})
