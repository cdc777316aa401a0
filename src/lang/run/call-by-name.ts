import {nearest, SvcError} from '../../errors/index.js'
import {kindOf} from '../check/index.js'
import type {Application} from './application.js'
import {BadArgument, readArguments} from './arguments.js'
import {Failure} from './failure.js'
import {display, toJson} from './value.js'

/**
 * Calls an endpoint by name.
 * @param words `name=value`, where a value is JSON or plain text
 * @returns the reply as JSON; undefined for Unit
 * @throws endpoint_unknown, argument_invalid, endpoint_failed, endpoint_refused
 */
export async function callByName(application: Application, name: string, words: readonly string[]): Promise<unknown> {
  const endpoints = application.program.functions.filter((made) => !['plain', 'http'].includes(kindOf(made)))
  const target = endpoints.find((made) => made.name === name)
  if (target === undefined) {
    const names = endpoints.map((made) => made.name)
    throw new SvcError('endpoint_unknown', {name, suggestion: nearest(name, names)})
  }
  try {
    const {kind, value} = await application.call(target, readArguments(target, words))
    if (kind === 'domain') throw new SvcError('endpoint_refused', {name, detail: display(value)})
    return value === undefined ? undefined : toJson(value)
  } catch (thrown) {
    if (thrown instanceof BadArgument)
      throw new SvcError('argument_invalid', {name: thrown.argument, fault: thrown.message})
    if (thrown instanceof Failure)
      throw new SvcError('endpoint_failed', {name, reason: thrown.reason, detail: thrown.message}, {cause: thrown})
    throw thrown
  }
}
