import {settings} from '../setting.js'

/** The tool server. */
export const mcpSettings = settings('mcp', {})
