import {nearest} from '../errors/index.js'
import type {SettingTable} from './setting.js'

/** Message for a variable that is not a setting; undefined if it is one. */
export function unreadVariable(name: string, tables: readonly SettingTable[]): string | undefined {
  const known = tables.flatMap(({rows}) => Object.values(rows).flatMap(({env}) => env ?? []))
  if (known.includes(name)) return undefined
  const suggestion = nearest(name, known)
  return `unknown variable ${name}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`
}
