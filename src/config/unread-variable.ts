import {nearest} from '../errors/index.js'
import type {SettingTable} from './setting.js'

/** What is wrong with a variable that no setting reads; undefined where one does. */
export function unreadVariable(name: string, tables: readonly SettingTable[]): string | undefined {
  const known = tables.flatMap(({rows}) => Object.values(rows).flatMap(({env}) => env ?? []))
  if (known.includes(name)) return undefined
  const suggestion = nearest(name, known)
  return `no setting reads ${name}.${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`
}
