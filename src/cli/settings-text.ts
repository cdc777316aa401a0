import type {DescribedSetting} from '../config/index.js'
import {formatTable} from './table.js'

type Shown = Pick<DescribedSetting, 'name' | 'value' | 'origin' | 'overridden'>

/** Longer values are truncated on a terminal, characters. */
const longestValue = 40

/**
 * Settings as a table: effective value, source, and overridden values.
 * @param width terminal width in characters; undefined: unlimited, and values are not truncated
 */
export const formatSettings = (settings: readonly Shown[], width?: number): string =>
  formatTable(
    ['SETTING', 'VALUE', 'FROM', 'OVERRIDES'],
    settings.map(({name, value, origin, overridden}) => [
      name,
      width === undefined ? format(value) : truncate(format(value)),
      sourceOf(origin),
      overridden.map((other) => `${sourceOf(other)} = ${format(other.value)}`).join(', '),
    ]),
    width,
  )

const format = (value: unknown) => (value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value))

const truncate = (text: string) => (text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text)

const sourceOf = ({source, name}: {source: string; name?: string}) =>
  name === undefined ? source : `${source} ${name}`
