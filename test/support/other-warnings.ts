import type {SettingWarning} from '../../src/config/index.js'

/** Warnings, except those about settings that this version ignores. */
export const withoutPlanned = (warnings: readonly SettingWarning[]): SettingWarning[] =>
  warnings.filter(({code}) => code !== 'config_planned')
