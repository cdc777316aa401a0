/** An argument as a person can type it in a shell: quoted if it has other characters than those of names and paths. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
