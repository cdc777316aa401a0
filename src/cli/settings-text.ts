import type {DescribedSetting} from '../config/index.js'
import {formatTable} from './table.js'

type Shown = Pick<DescribedSetting, 'name' | 'value' | 'origin' | 'overridden'>

/** Settings as a table: the value in force, where it comes from, and what lost to it. */
export const formatSettings = (settings: readonly Shown[]): string =>
  formatTable(
    ['SETTING', 'VALUE', 'FROM', 'OVERRIDES'],
    settings.map(({name, value, origin, overridden}) => [
      name,
      show(value),
      where(origin),
      overridden.map((loser) => `${where(loser)} = ${show(loser.value)}`).join(', '),
    ]),
  )

const show = (value: unknown) => (value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value))

const where = ({source, name}: {source: string; name?: string}) => (name === undefined ? source : `${source} ${name}`)
