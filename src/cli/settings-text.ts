import type {DescribedSetting} from '../config/index.js'
import {formatTable} from './table.js'

type Shown = Pick<DescribedSetting, 'name' | 'value' | 'origin' | 'overridden' | 'planned'>

/** Longest value that a terminal shows whole, characters. */
const longestValue = 40

/**
 * Settings as a table: the value in force, where it comes from, and what lost to it.
 * @param width of the terminal, where there is one: long values are cut to fit
 */
export const formatSettings = (settings: readonly Shown[], width?: number): string =>
  formatTable(
    ['SETTING', 'VALUE', 'FROM', 'OVERRIDES'],
    settings.map(({name, value, origin, overridden, planned}) => [
      name,
      width === undefined ? show(value) : cut(show(value)),
      planned ? `planned, ${where(origin)}` : where(origin),
      overridden.map((loser) => `${where(loser)} = ${show(loser.value)}`).join(', '),
    ]),
    width,
  )

const show = (value: unknown) => (value === null ? '-' : typeof value === 'string' ? value : JSON.stringify(value))

const cut = (text: string) => (text.length > longestValue ? `${text.slice(0, longestValue - 1)}…` : text)

const where = ({source, name}: {source: string; name?: string}) => (name === undefined ? source : `${source} ${name}`)
