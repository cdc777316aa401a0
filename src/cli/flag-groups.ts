import type {Command} from '@oclif/core'
import type {FlagInput} from '@oclif/core/interfaces'
import type {FlagGroup} from '../config/index.js'

/** Flags under a heading of their own in help and manual. */
export const inGroup = <const T extends FlagInput>(helpGroup: FlagGroup, flags: T): T =>
  Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, {...flag, helpGroup}])) as T

/**
 * The flags of a command by heading, in the order of their declarations: those without a heading first (''), those that all
 * commands have last.
 */
export function flagGroups<F extends Pick<Command.Flag.Any, 'helpGroup'>>(
  flags: readonly F[],
): (readonly [heading: string, flags: F[]])[] {
  const headingOf = ({helpGroup = ''}: F) => helpGroup
  const rank = (heading: string) => (heading === '' ? 0 : heading === 'GLOBAL' ? 2 : 1)
  return [...new Set(flags.map(headingOf))]
    .sort((a, b) => rank(a) - rank(b))
    .map((heading) => [heading, flags.filter((flag) => headingOf(flag) === heading)])
}

/** Number of flags above which the examples of a command come before the flags, which fill more than a screen. */
const maxFlags = 15

/** Whether the help and the manual page of a command show its examples first. */
export const hasExamplesFirst = ({flags}: Pick<Command.Loadable, 'flags'>): boolean =>
  Object.values(flags).filter(({hidden}) => !hidden).length > maxFlags
