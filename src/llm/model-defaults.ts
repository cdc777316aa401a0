import {parameterFault as faultOf, type ModelDefaults, mergeDefaults as merge} from '../weights/index.js'

/** The former precede the latter, parameter by parameter. */
export const mergeDefaults = (own: ModelDefaults, base: ModelDefaults): ModelDefaults => merge(own, base)

/** What a value of a parameter of `--set` must be, if it is not that. */
export const parameterFault = (name: string, value: unknown): string | undefined => faultOf(name, value)
