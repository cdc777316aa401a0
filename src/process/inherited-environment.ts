const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const

/** Variables with folders of a user, which another user cannot use. */
const personal: readonly string[] = ['HOME', 'TMPDIR']

/**
 * The few harmless variables that a command of a user's configuration inherits.
 * @param user account of the command, if it is another one
 */
export const inheritedEnvironment = (
  parent: Readonly<Record<string, string | undefined>>,
  user?: string,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    inherited.flatMap((name) =>
      parent[name] === undefined || (user !== undefined && personal.includes(name)) ? [] : [[name, parent[name]]],
    ),
  )
