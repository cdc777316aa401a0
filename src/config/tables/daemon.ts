import {settings} from '../setting.js'

/** The daemon and those who call it. */
export const daemonSettings = settings('daemon', {})
