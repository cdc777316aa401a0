const inherited = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const

/** The few harmless variables that a command of a user's configuration inherits. */
export const inheritedEnvironment = (
  parent: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(inherited.flatMap((name) => (parent[name] === undefined ? [] : [[name, parent[name]]])))
