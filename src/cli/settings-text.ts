import type {DescribedSetting} from '../config/index.js'
import {excerpt} from '../errors/index.js'
import {formatTable, type TableView, wrapped} from './table.js'

type Shown = Pick<DescribedSetting, 'name' | 'value' | 'origin' | 'overridden'>

/** Longer values are truncated on a terminal, characters. */
const maxValueLength = 40

/** Settings as a table: effective value, source, and overridden values. Values are truncated on a terminal. */
export const formatSettings = (settings: readonly Shown[], view: TableView = {}): string =>
  formatTable(
    ['SETTING', wrapped('VALUE'), wrapped('FROM'), wrapped('OVERRIDES')],
    settings.map(({name, value, origin, overridden}) => [
      name,
      view.width === undefined ? format(value) : excerpt(format(value), maxValueLength),
      sourceOf(origin),
      overridden.map((other) => `${sourceOf(other)} = ${format(other.value)}`).join(', '),
    ]),
    view,
  )

const format = (value: unknown) => (value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value))

const sourceOf = ({source, name}: {source: string; name?: string}) =>
  name === undefined ? source : `${source} ${name}`
