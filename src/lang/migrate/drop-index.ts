import {type LiveIndex, quotedAny, triggersOf} from './live-schema.js'

/** The statements that drop an index, with its triggers. */
export function dropIndex({name, isVirtual}: LiveIndex): string {
  if (!isVirtual) return `DROP INDEX IF EXISTS ${quotedAny(name)};`
  const triggers = triggersOf(name).map((trigger) => `DROP TRIGGER IF EXISTS ${quotedAny(trigger)};`)
  return [...triggers, `DROP TABLE IF EXISTS ${quotedAny(name)};`].join('\n')
}
