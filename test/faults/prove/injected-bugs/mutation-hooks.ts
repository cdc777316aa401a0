/** Hooks of the module loader that change the modules of a program: see `command-with-bug.ts`. */
import type {InitializeHook, LoadHook} from 'node:module'
import {type MutationName, mutate} from './mutations.js'

let mutation: MutationName | undefined

export const initialize: InitializeHook<MutationName> = async (name) => {
  mutation = name
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context)
  if (mutation === undefined || loaded.format !== 'module' || !url.includes('/dist/src/')) return loaded
  const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source as Uint8Array)
  return {...loaded, source: mutate(mutation, url, text)}
}
