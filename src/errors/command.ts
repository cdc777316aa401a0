type Words = readonly (string | number)[]

/**
 * A command with each value as one word of the shell. Words in capitals stand for values that the reader fills in.
 *
 * @example commandLine`svc workflow resume ${run}`
 */
export const commandLine = (texts: TemplateStringsArray, ...values: Words): string =>
  String.raw(texts, ...values.map((value) => shellWord(String(value))))

/** The same for a sentence: between backticks, which show where the command ends. */
export const command = (texts: TemplateStringsArray, ...values: Words): string => `\`${commandLine(texts, ...values)}\``

/** An argument as a person can type it in a shell: quoted if it has other characters than those of names and paths. */
const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
