import type {SettingWarning} from '../../src/config/index.js'

/** Warnings, but for those of settings that this version does not use. */
export const withoutPlanned = (warnings: readonly SettingWarning[]): SettingWarning[] =>
  warnings.filter(({code}) => code !== 'config_planned')
